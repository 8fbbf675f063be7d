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
  {
    failovers,
    places,
    replies,
    backends,
  }: Pick<Stage, 'failovers' | 'places' | 'replies'> & {
    readonly backends: Pick<Stage['backends'], 'calls'>;
  },
  first: string,
): M[] {
  if (failovers.length === 0) return [...messages];
  const signs = firstSigns(replies, backends.calls());
  const hubIn = (period: number) => (period === 0 ? first : failovers[period - 1]?.hub);
  const periodAt = (position: number) => failovers.filter((one) => one.position < position).length;

  function rankOf({ id }: M): number {
    const [place] = places.get(id) ?? [];
    const sign = signs.get(id);
    // Without any, nothing can be in a wrong order.
    if (place === undefined || sign === undefined) return 0;
    const period = periodAt(sign);
    // What was read before a failover ends after it.
    return hubIn(period) === place.hub ? period : period - 1;
  }
  const ranks = new Map(messages.map((message) => [message, rankOf(message)]));
  return messages.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

/** Where the first call or reply of each message stands in the journal. */
function firstSigns(replies: Stage['replies'], calls: ReturnType<Stage['backends']['calls']>): Map<string, number> {
  const signs = new Map<string, number>();
  const all = [
    ...replies.map(({ correlationId = '', position }) => [correlationId, position] as const),
    ...calls.map(({ headers, position }) => [headers['x-correlation-id'] ?? '', position] as const),
  ];
  for (const [id, position] of all) signs.set(id, Math.min(position, signs.get(id) ?? position));
  return signs;
}
