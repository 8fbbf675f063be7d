import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import { grouped } from '../support/observed.ts';
import type { Finding } from './checker.ts';
import type { Stage } from './stage.ts';

/** The hub has changed its event endpoint: what it took before has a lower position in its journal. */
export interface Failover {
  readonly position: number;
  /** Name of the endpoint that takes events from then on. */
  readonly hub: string;
}

/**
 * The messages in the order in which the hub can have delivered them. What a failover leaves unread comes only when the hub is
 * back at that endpoint, behind all that was sent to the other one meanwhile; so does what was read and left unfinished (D402).
 * @param first name of the endpoint before any failover
 */
export function inHubOrder<M extends { readonly id: string; readonly deviceId: string }>(
  messages: readonly M[],
  { failovers, places, replies }: Pick<Stage, 'failovers' | 'places' | 'replies'>,
  calls: readonly BackendCall[],
  effects: readonly { readonly id: string; readonly position: number }[],
  first: string,
): M[] {
  if (failovers.length === 0) return [...messages];
  const answered = firstOf(replies.map(({ correlationId = '', position }) => ({ id: correlationId, position })));
  const begun = beginningsIn(calls);
  const effected = firstOf(effects);
  const refused = firstOf(
    calls.filter(isRefusal).map(({ headers, position }) => ({ id: headers['x-correlation-id'] ?? '', position })),
  );
  const parted = partedBy(failovers, calls);
  const hubIn = (period: number) => (period === 0 ? first : failovers[period - 1]?.hub);
  // What a beginning that was cut off has neither done nor been refused, which backends remember, the last one decides.
  const signOf = ({ id }: M) =>
    effected.get(id) ?? refused.get(id) ?? begun.get(id)?.at(-1) ?? answered.get(id) ?? Number.NaN;
  const isAt = (message: M, period: number) => places.get(message.id)?.[0]?.hub === hubIn(period);

  function rankOf(message: M): number {
    const period = periodAt(failovers, signOf(message));
    // What was read before a failover ends after it. Without a place and a sign, nothing can be in a wrong order.
    return period > 0 && !isAt(message, period) ? period - 1 : period;
  }
  /** Its instance had lost the partition when it ended. */
  const isLate = (message: M) => parted.has(message.id) && !isAt(message, periodAt(failovers, signOf(message)));
  const ranks = new Map(messages.map((message) => [message, rankOf(message)]));
  const ordered = messages
    .filter((message) => !isLate(message))
    .toSorted((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0));
  for (const late of messages.filter(isLate)) {
    const next = ordered.findIndex((one) => one.deviceId === late.deviceId && signOf(one) > signOf(late));
    ordered.splice(next < 0 ? ordered.length : next, 0, late);
  }
  return ordered;
}

const periodAt = (failovers: readonly Failover[], position: number) =>
  failovers.filter((one) => one.position < position).length;

/** Messages with beginnings on both sides of a failover: the stop for it, or a kill, has parted them. */
export const partedBy = (failovers: readonly Failover[], calls: readonly BackendCall[]): ReadonlySet<string> =>
  new Set(
    [...beginningsIn(calls)].flatMap(([id, positions]) =>
      new Set(positions.map((position) => periodAt(failovers, position))).size > 1 ? [id] : [],
    ),
  );

/** What a failover has left unfinished is told to the operator, unless those who had it were killed (D402). */
export function untold(
  parted: ReadonlySet<string>,
  { interruptions }: Pick<Stage, 'interruptions'>,
  lines: readonly Readonly<Record<string, unknown>>[],
): Finding[] {
  const told = lines.reduce(
    (sum, { event, unfinished }) => sum + (event === 'hub.messages_left' ? Number(unfinished) : 0),
    0,
  );
  if (interruptions.length > 0 || parted.size <= told) return [];
  return [{ what: 'uncounted', id: 'failover', why: `${parted.size} messages left unfinished, ${told} told` }];
}

/** Of a change, and not through our side. */
const isRefusal = ({ method, path, status, fault }: BackendCall): boolean =>
  method !== 'GET' &&
  !path.startsWith('/query') &&
  fault === undefined &&
  [400, 403, 404, 409, 412].includes(status ?? 0);

/** Where the first call of each beginning of a message stands in the journal, in order. */
function beginningsIn(calls: readonly BackendCall[]): ReadonlyMap<string, readonly number[]> {
  const first = firstOf(
    calls.map(({ headers, position }) => ({
      id: `${headers['x-correlation-id']} ${headers['traceparent']}`,
      position,
    })),
  );
  const byId = grouped([...first], ([name]) => name.slice(0, name.lastIndexOf(' ')));
  return new Map([...byId].map(([id, own]) => [id, own.map(([, position]) => position).sort((a, b) => a - b)]));
}

function firstOf(all: readonly { readonly id: string; readonly position: number }[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const { id, position } of all) first.set(id, Math.min(position, first.get(id) ?? position));
  return first;
}
