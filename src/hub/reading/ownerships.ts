import { within } from '../../concurrency/within.ts';
import type { Ownership, Store } from '../stores/store.ts';

/** Changes ownership records for this instance. Each request to the store is answered within the limit, or rejects. */
export interface Ownerships {
  /** All records, and since when the store has answered without a long gap (milliseconds since 1970; 0: always). */
  look(): Promise<{ records: Ownership[]; readableSince: number }>;
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

/**
 * @param me names this instance
 * @param gapMs the longest time between two calls of `look` that is no gap: during a gap other owners may be unable to
 * renew, too
 */
export function createOwnerships(store: Store, me: string, answerMs: number, gapMs: number): Ownerships {
  let readAt = Date.now();
  let readableSince = 0;
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
      if (now - readAt > gapMs) readableSince = now;
      readAt = now;
      return { records, readableSince };
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
