import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import { grouped } from '../support/observed.ts';
import type { Stage } from './stage.ts';

/** The hub has changed its event endpoint: what it took before has a lower position in its journal. */
export interface Failover {
  readonly position: number;
  /** Name of the endpoint that takes events from then on. */
  readonly hub: string;
}

/**
 * The messages in the order in which the hub can have delivered them. What a failover leaves unread comes only when the hub is
 * back at that endpoint, behind all that was sent to the other one meanwhile.
 * @param first name of the endpoint before any failover
 */
export function inHubOrder<M extends { readonly id: string }>(
  messages: readonly M[],
  { failovers, places, replies }: Pick<Stage, 'failovers' | 'places' | 'replies'>,
  calls: readonly BackendCall[],
  effects: readonly { readonly id: string; readonly position: number }[],
  first: string,
): M[] {
  if (failovers.length === 0) return [...messages];
  const signs = new Map([...firstSigns(replies, calls), ...firstOf(effects)]);
  const hubIn = (period: number) => (period === 0 ? first : failovers[period - 1]?.hub);

  function rankOf({ id }: M): number {
    const [place] = places.get(id) ?? [];
    const sign = signs.get(id);
    // Without any, nothing can be in a wrong order.
    if (place === undefined || sign === undefined) return 0;
    const period = periodAt(failovers, sign);
    // What was read before a failover ends after it.
    return hubIn(period) === place.hub ? period : period - 1;
  }
  const ranks = new Map(messages.map((message) => [message, rankOf(message)]));
  return messages.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

const periodAt = (failovers: readonly Failover[], position: number) =>
  failovers.filter((one) => one.position < position).length;

/** Messages with beginnings on both sides of a failover: a kill has parted them. */
export function partedBy(failovers: readonly Failover[], calls: readonly BackendCall[]): ReadonlySet<string> {
  const begun = firstOf(
    calls.map(({ headers, position }) => ({
      id: `${headers['x-correlation-id']} ${headers['traceparent']}`,
      position,
    })),
  );
  const beginnings = grouped([...begun], ([name]) => name.slice(0, name.lastIndexOf(' ')));
  const isParted = (own: readonly (readonly [string, number])[]) =>
    new Set(own.map(([, position]) => periodAt(failovers, position))).size > 1;
  return new Set([...beginnings].flatMap(([id, own]) => (isParted(own) ? [id] : [])));
}

/** Where the first call or reply of each message stands in the journal. */
const firstSigns = (replies: Stage['replies'], calls: readonly BackendCall[]): ReadonlyMap<string, number> =>
  firstOf([
    ...replies.map(({ correlationId = '', position }) => ({ id: correlationId, position })),
    ...calls.map(({ headers, position }) => ({ id: headers['x-correlation-id'] ?? '', position })),
  ]);

function firstOf(all: readonly { readonly id: string; readonly position: number }[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const { id, position } of all) first.set(id, Math.min(position, first.get(id) ?? position));
  return first;
}
