import { within } from '../../concurrency/within.ts';
import type { Ownership, Store } from '../stores/store.ts';

/** This instance's hand in the ownership records. Each request to the store ends within the limit, or rejects. */
export interface Ownerships {
  /** All records, and since when they could be seen without a long gap (milliseconds since 1970). */
  look(): Promise<{ records: Ownership[]; sightedAt: number }>;
  /** The next three answer the record as it stands then, or undefined when somebody else was faster. */
  renew(record: Ownership): Promise<Ownership | undefined>;
  claim(partition: string, seen: Ownership | undefined): Promise<Ownership | undefined>;
  ask(record: Ownership): Promise<Ownership | undefined>;
  /**
   * Gives a partition back, unless it has become somebody else's.
   * @param begun newest sequence number of which anybody may have begun to handle the message, if that is known
   */
  release(record: Ownership, begun: number | undefined): Promise<void>;
}

/**
 * @param me names this instance
 * @param gapMs between two looks: whoever could not renew meanwhile may not have been able to
 */
export function createOwnerships(store: Store, me: string, answerMs: number, gapMs: number): Ownerships {
  let lastLook = Date.now();
  let sightedAt = 0;
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
      if (now - lastLook > gapMs) sightedAt = now;
      lastLook = now;
      return { records, sightedAt };
    },
    renew: (record) => change(record, { renewedAt: Date.now() }),
    claim(partition, seen) {
      const claimed = { partition, owner: me, wantedBy: '', wantedSince: 0, renewedAt: Date.now() };
      return within(store.change(seen, { ...claimed, epoch: (seen?.epoch ?? 0) + 1 }), answerMs);
    },
    ask: (record) => change(record, { wantedBy: me, wantedSince: Date.now() }),
    async release(given, begun) {
      for (let record = await own(given); record !== undefined; record = await own(given)) {
        // A renewal of our own, or somebody's wish, may come in between. The wish stays: it says for whom this is.
        if (await change(record, { owner: '', renewedAt: Date.now(), ...(begun !== undefined && { begun }) })) return;
      }
    },
  };
}
