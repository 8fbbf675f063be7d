import type { SeenOwnership } from './ownerships.ts';

export interface BalanceLimits {
  /** An owner that has not renewed for this time has expired. */
  readonly expiryMs: number;
  /** A partition that its owner has not released this long after the request is claimed anyway. */
  readonly forceMs: number;
}

/**
 * Derived, so that every configuration gives the owner time: it sees the request within a round (a sixth of the expiry)
 * and may use the whole drain limit. Never before the owner's expiry.
 */
export const balanceLimits = (expiryMs: number, drainMs: number): BalanceLimits => ({
  expiryMs,
  forceMs: expiryMs + drainMs,
});

/** What one instance does about the partitions in one round. */
export interface Decision {
  /** Records of its own partitions. */
  readonly renew: readonly SeenOwnership[];
  /** Own partitions that another instance requests: to be drained and released. */
  readonly release: readonly SeenOwnership[];
  /** Partitions without an owner, or not released in time. */
  readonly claim: readonly string[];
  /** Partitions of instances that have more than their share: to be requested. */
  readonly ask: readonly SeenOwnership[];
}

/**
 * Shares partitions evenly among the instances and does not interrupt an instance that works (G3): an instance with too
 * few requests one, and its owner drains and releases it.
 * @param partitions all ids of the hub
 * @param records a partition without a record has never been read
 */
export function decide(
  me: string,
  partitions: readonly string[],
  records: readonly SeenOwnership[],
  { expiryMs, forceMs }: BalanceLimits,
): Decision {
  const known = new Map(records.map((record) => [record.partition, record]));
  /** Its own record stays alive until another instance claims it. */
  const isAlive = ({ owner, unrenewedMs }: SeenOwnership) => owner === me || (owner !== '' && unrenewedMs < expiryMs);
  const isAsked = ({ wantedBy, wantedMs }: SeenOwnership) => wantedBy !== '' && wantedMs < forceMs * 2;

  /** Released for the instance that requested it, which has one expiry to claim it. */
  const isReserved = (record: SeenOwnership) => record.owner === '' && isAsked(record) && record.unrenewedMs < expiryMs;

  const mine = records.filter(({ owner }) => owner === me);
  const others = records.filter((record) => record.owner !== me && isAlive(record));
  const instances = new Set([me, ...others.map(({ owner }) => owner)]);
  const reserved = records.filter(isReserved);
  for (const record of [...mine, ...others, ...reserved]) if (isAsked(record)) instances.add(record.wantedBy);
  const least = Math.floor(partitions.length / instances.size);
  const most = Math.ceil(partitions.length / instances.size);

  const release = mine.filter((record) => isAsked(record) && record.wantedBy !== me);
  const keep = mine.length - release.length;
  const free = partitions.filter((partition) => {
    const record = known.get(partition);
    if (record !== undefined && isReserved(record) && record.wantedBy !== me) return false;
    return record === undefined || !isAlive(record);
  });
  const overdue = others.filter(({ wantedBy, wantedMs }) => wantedBy === me && wantedMs >= forceMs);
  const claim = [...overdue.map(({ partition }) => partition), ...free].slice(0, Math.max(0, most - keep));

  const asked = others.filter((record) => record.wantedBy === me && !overdue.includes(record));
  const missing = free.length > 0 ? 0 : least - keep - claim.length - asked.length;
  return { renew: mine, release, claim, ask: missing > 0 ? surplus(others, least, missing, isAsked) : [] };
}

/** Partitions not requested yet, of owners with more than the least share; the owner with the most comes first. */
function surplus(
  others: readonly SeenOwnership[],
  least: number,
  count: number,
  isAsked: (record: SeenOwnership) => boolean,
): SeenOwnership[] {
  const held = new Map<string, SeenOwnership[]>();
  for (const record of others) held.set(record.owner, [...(held.get(record.owner) ?? []), record]);
  for (const [owner, records] of held) {
    const remaining = records.filter((record) => !isAsked(record));
    held.set(owner, remaining);
  }
  const chosen: SeenOwnership[] = [];
  while (chosen.length < count) {
    const [most] = [...held.values()].sort((a, b) => b.length - a.length);
    if (most === undefined || most.length <= least) break;
    const record = most.pop();
    if (record) chosen.push(record);
  }
  return chosen;
}
