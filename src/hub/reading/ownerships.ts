import { within } from '../../concurrency/within.ts';
import type { Ownership, Store } from '../stores/store.ts';

/** Changes ownership records for this instance. Each request to the store is answered within the limit, or rejects. */
export interface Ownerships {
  /** All records, and for how many milliseconds the owner of one could have renewed it and has not. */
  look(): Promise<{ records: Ownership[]; ageOf(record: Pick<Ownership, 'renewedAt'>): number }>;
  /** The next three return the new record, or undefined when another instance has changed it first. */
  renew(record: Ownership): Promise<Ownership | undefined>;
  claim(partition: string, seen: Ownership | undefined): Promise<Ownership | undefined>;
  ask(record: Ownership): Promise<Ownership | undefined>;
  /**
   * Releases a partition, unless another instance owns it by now.
   * @param begun newest sequence number whose handling may have begun on any instance, if that is known
   */
  release(record: Ownership, begun: number | undefined): Promise<void>;
}

/** Older gaps are forgotten. */
const mostGaps = 100;

/**
 * @param me names this instance
 * @param gapMs what counts of the time between two answers to `look`, at most: in a longer gap the other owners may have
 * been unable to renew, too. Not the whole gap is left out, so that partitions of an instance that has ended are taken
 * over even when every answer takes long.
 */
export function createOwnerships(store: Store, me: string, answerMs: number, gapMs: number): Ownerships {
  let readAt = Date.now();
  const gaps: { readonly from: number; readonly to: number }[] = [];
  const all = () => within(store.ownerships(), answerMs);
  const change = (record: Ownership, what: Partial<Ownership>) =>
    within(store.change(record, { ...record, ...what }), answerMs);

  async function own({ partition, epoch }: Ownership): Promise<Ownership | undefined> {
    return (await all()).find((one) => one.partition === partition && one.owner === me && one.epoch === epoch);
  }

  return {
    async look() {
      const records = await all();
      const now = Date.now();
      if (now - readAt > gapMs && gaps.push({ from: readAt, to: now }) > mostGaps) gaps.shift();
      readAt = now;
      const leftOut = (since: number) =>
        gaps.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since) - gapMs), 0);
      return { records, ageOf: ({ renewedAt }) => now - renewedAt - leftOut(renewedAt) };
    },
    renew: (record) => change(record, { renewedAt: Date.now() }),
    claim(partition, seen) {
      const claimed = { partition, owner: me, wantedBy: '', wantedSince: 0, renewedAt: Date.now() };
      return within(store.change(seen, { ...claimed, epoch: (seen?.epoch ?? 0) + 1 }), answerMs);
    },
    ask: (record) => change(record, { wantedBy: me, wantedSince: Date.now() }),
    async release(given, begun) {
      for (let record = await own(given); record !== undefined; record = await own(given)) {
        // Repeated, as our renewal or another's request may come first. `wantedBy` stays: the release is for it.
        if (await change(record, { owner: '', renewedAt: Date.now(), ...(begun !== undefined && { begun }) })) return;
      }
    },
  };
}
