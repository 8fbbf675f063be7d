import { hash } from 'node:crypto';
import type { SeenLease } from './leases.ts';

export interface BalanceLimits {
  /** An owner that has not renewed for this time has expired. */
  readonly expiryMs: number;
  /** A partition that its owner has not released this long after the request is claimed anyway. */
  readonly forceMs: number;
}

/** So every configuration gives the owner time: it sees the request within a round (a sixth of the expiry) and may use the whole drain limit. */
export const balanceLimits = (expiryMs: number, drainMs: number) => ({ expiryMs, forceMs: expiryMs + drainMs });

/**
 * What one instance does about the partitions in one round.
 *
 * Shares partitions evenly among the instances and does not interrupt an instance that works (G3): an instance with too
 * few requests some, and their owners drain and release them. Instances that decide at the same time, from the same records, choose
 * different partitions, and request no more than they have: others may be there that no record shows yet (D412).
 * @param partitions all ids of the hub
 * @param records a partition without a record has never been read
 * @returns own records to renew; those of them to drain and release, because another instance asks; partitions to claim, without an owner or not released
 * in time; those to ask for; and those asked for that it does not need any more, because others have come
 */
export function decide(
  me: string,
  partitions: readonly string[],
  records: readonly SeenLease[],
  { expiryMs, forceMs }: BalanceLimits,
) {
  const known = new Map(records.map((record) => [record.partition, record]));
  const rankOf = (partition: string) => hash('sha1', `${me} ${partition}`);
  const inOwnOrder = (one: string, other: string) => (rankOf(one) < rankOf(other) ? -1 : 1);

  /** Its own record stays alive until another instance claims it. */
  const isAlive = ({ owner, unrenewedMs }: SeenLease) => owner === me || (owner !== '' && unrenewedMs < expiryMs);
  const isAsked = ({ wantedBy, wantedMs }: SeenLease) => wantedBy !== '' && wantedMs < forceMs * 2;

  /** Released for the instance that requested it, which has one expiry to claim it. */
  const isReserved = (record: SeenLease) => record.owner === '' && isAsked(record) && record.unrenewedMs < expiryMs;

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
  const promised = (partition: string) => known.get(partition)?.wantedBy === me;
  const preferred = [...free.filter(promised), ...free.filter((one) => !promised(one)).sort(inOwnOrder)];
  const claim = [...overdue.map(({ partition }) => partition), ...preferred].slice(0, Math.max(0, most - keep));

  const asked = others.filter((record) => record.wantedBy === me && !overdue.includes(record));
  const missing = free.length > 0 ? 0 : Math.min(least - keep - claim.length, Math.max(1, keep)) - asked.length;
  const needless = records.filter((one) => isReserved(one) && one.wantedBy === me && !claim.includes(one.partition));
  const withdraw = [...needless, ...asked.slice(Math.max(0, most - keep - claim.length))];

  /** Partitions not requested yet, of owners with more than the least share; the owner with the most comes first. */
  const ask: SeenLease[] = [];
  const held = new Map<string, SeenLease[]>();
  const unasked = missing > 0 ? others.filter((record) => !isAsked(record)) : [];
  for (const record of unasked.sort((one, other) => inOwnOrder(one.partition, other.partition)))
    held.set(record.owner, [...(held.get(record.owner) ?? []), record]);
  while (ask.length < missing) {
    const [richest = []] = [...held.values()].sort((a, b) => b.length - a.length);
    if (richest.length <= least) break;
    ask.push(...richest.splice(-1));
  }
  return { renew: mine, release, claim, ask, withdraw };
}
