import type { Ownership } from '../stores/store.ts';

export interface BalanceLimits {
  /** An owner that has not renewed for so long is gone. */
  readonly expiryMs: number;
  /** A partition that was asked for and not released for so long is taken by force. */
  readonly forceMs: number;
}

/**
 * Derived, so that no settings let force come before the owner could react: it sees the wish within a round, of which an
 * expiry has six, and may drain as long as it is allowed to. Never before the owner's expiry.
 */
export const balanceLimits = (expiryMs: number, drainMs: number): BalanceLimits => ({
  expiryMs,
  forceMs: expiryMs + drainMs,
});

/** What one instance does about the partitions in one round. */
export interface Decision {
  /** Its own, to be renewed. */
  readonly renew: readonly Ownership[];
  /** Asked for by others: to be drained and released. */
  readonly release: readonly Ownership[];
  /** Without an owner, or taken by force: to be claimed. */
  readonly claim: readonly string[];
  /** Of who has more than its share: to be asked for. */
  readonly ask: readonly Ownership[];
}

/**
 * Shares partitions evenly among the instances, without taking anything from anybody that is still at work (G3):
 * whoever has too little asks, whoever is asked drains and releases.
 * @param partitions all ids of the hub
 * @param records what is known of them; a partition without a record has never been read
 * @param sightedAt since when the records could be seen without a long gap (milliseconds since 1970): whoever could not
 * renew while nobody could see has a whole expiry to do so
 */
export function decide(
  me: string,
  partitions: readonly string[],
  records: readonly Ownership[],
  now: number,
  { expiryMs, forceMs }: BalanceLimits,
  sightedAt = 0,
): Decision {
  const known = new Map(records.map((record) => [record.partition, record]));
  /** One's own record is alive as long as nobody else has taken it. */
  const isAlive = ({ owner, renewedAt }: Ownership) =>
    owner === me || (owner !== '' && now - Math.max(renewedAt, sightedAt) < expiryMs);
  const isAsked = ({ wantedBy, wantedSince }: Ownership) => wantedBy !== '' && now - wantedSince < forceMs * 2;

  /** Given back for whoever asked, who has as long as an owner to come. */
  const isPromised = (record: Ownership) => record.owner === '' && isAsked(record) && now - record.renewedAt < expiryMs;

  const mine = records.filter(({ owner }) => owner === me);
  const others = records.filter((record) => record.owner !== me && isAlive(record));
  const instances = new Set([me, ...others.map(({ owner }) => owner)]);
  const promised = records.filter(isPromised);
  for (const record of [...mine, ...others, ...promised]) if (isAsked(record)) instances.add(record.wantedBy);
  const least = Math.floor(partitions.length / instances.size);
  const most = Math.ceil(partitions.length / instances.size);

  const release = mine.filter((record) => isAsked(record) && record.wantedBy !== me);
  const keep = mine.length - release.length;
  const free = partitions.filter((partition) => {
    const record = known.get(partition);
    if (record !== undefined && isPromised(record) && record.wantedBy !== me) return false;
    return record === undefined || !isAlive(record);
  });
  const overdue = others.filter((record) => record.wantedBy === me && now - record.wantedSince >= forceMs);
  const claim = [...overdue.map(({ partition }) => partition), ...free].slice(0, Math.max(0, most - keep));

  const asked = others.filter((record) => record.wantedBy === me && !overdue.includes(record));
  const missing = free.length > 0 ? 0 : least - keep - claim.length - asked.length;
  return { renew: mine, release, claim, ask: missing > 0 ? richest(others, least, missing, isAsked) : [] };
}

/** Partitions that nobody has asked for, of the owners that have more than the least share: the richest first. */
function richest(
  others: readonly Ownership[],
  least: number,
  count: number,
  isAsked: (record: Ownership) => boolean,
): Ownership[] {
  const held = new Map<string, Ownership[]>();
  for (const record of others) held.set(record.owner, [...(held.get(record.owner) ?? []), record]);
  for (const [owner, records] of held) {
    const remaining = records.filter((record) => !isAsked(record));
    held.set(owner, remaining);
  }
  const chosen: Ownership[] = [];
  while (chosen.length < count) {
    const [most] = [...held.values()].sort((a, b) => b.length - a.length);
    if (most === undefined || most.length <= least) break;
    const record = most.pop();
    if (record) chosen.push(record);
  }
  return chosen;
}
