import { sleep, within } from '../../concurrency/waiting.ts';
import type { CheckpointStore, Lease } from '../../stores/checkpointStore.ts';

/** A record, and how long its times are ago, measured by a clock that can't be set (D180). */
export interface SeenLease extends Lease {
  /** Milliseconds in which the owner could have renewed it and has not. */
  readonly unrenewedMs: number;
  /** Milliseconds in which the owner could have released it to `wantedBy` and has not. */
  readonly wantedMs: number;
}

/** Between the attempts of a release, which others' changes come before. */
const shortestPauseMs = 50;
const longestPauseMs = 2_000;

const unwanted = { wantedBy: '', wantedSince: 0 };

export type Leases = ReturnType<typeof createLeases>;

/**
 * Changes ownership records for this instance, each within the time limit, or rejects. What changes a record returns the new one, or
 * undefined when another instance has changed it first.
 * @param me names this instance
 * @param gapMs the most that a gap between two answers to `look` counts: in a longer one the other owners may have been unable to renew,
 * too. A time that has changed meanwhile is at most as old as the gap. Only at the first look do clocks of the day decide.
 */
export function createLeases(store: CheckpointStore, me: string, answerMs: number, gapMs: number) {
  let lookedAt = performance.now();
  let known: ReadonlyMap<string, SeenLease> | undefined;
  const all = () => within(store.ownerships(), answerMs);
  const change = (record: Lease, what: Partial<Lease>) =>
    within(store.change(record, { ...record, ...what }), answerMs);

  const owned = (partition: string) => ({ ...unwanted, partition, owner: me, renewedAt: Date.now() });

  async function own({ partition, epoch }: Lease): Promise<Lease | undefined> {
    return (await all()).find((one) => one.partition === partition && one.owner === me && one.epoch === epoch);
  }

  return {
    async look(): Promise<SeenLease[]> {
      const records = await all();
      const passedMs = performance.now() - lookedAt;
      const countedMs = Math.min(passedMs, gapMs);
      lookedAt += passedMs;
      const before = known;
      const changedMs = (at: number) => {
        const ms = Date.now() - at;
        const mostMs = countedMs + (before === undefined ? Math.max(0, ms - passedMs) : 0);
        return Math.max(0, Math.min(ms, mostMs));
      };
      const seen = records.map((record): SeenLease => {
        const last = before?.get(record.partition);
        // By its tag, however its times are converted now: a late answer shifts the measured clock of the store.
        const isUnchanged = last !== undefined && last.etag === record.etag;
        const isSame = (...names: readonly (keyof Lease)[]) =>
          isUnchanged || names.every((name) => last?.[name] === record[name]);
        const [isSameLease, isSameWish] = [isSame('owner', 'epoch', 'renewedAt'), isSame('wantedBy', 'wantedSince')];
        return {
          ...record,
          unrenewedMs: last && isSameLease ? last.unrenewedMs + countedMs : changedMs(record.renewedAt),
          wantedMs: last && isSameWish ? last.wantedMs + countedMs : changedMs(record.wantedSince),
        };
      });
      known = new Map(seen.map((record) => [record.partition, record]));
      return seen;
    },
    renew: (record: Lease) => change(record, { renewedAt: Date.now() }),
    claim: (partition: string, seen: Lease | undefined) =>
      within(store.change(seen, { ...owned(partition), epoch: (seen?.epoch ?? 0) + 1 }), answerMs),
    /** Writes the record of a partition that is read, after somebody has deleted it. */
    restore: ({ partition, epoch }: Lease) => within(store.change(undefined, { ...owned(partition), epoch }), answerMs),
    ask: (record: Lease) => change(record, { wantedBy: me, wantedSince: Date.now() }),
    withdraw: (record: Lease) => change(record, unwanted),
    /** Releases a partition, unless another instance owns it by now. @param begun as the session knows it */
    async release(given: Lease, begun: number | undefined): Promise<void> {
      let pauseMs = shortestPauseMs;
      for (let record = await own(given); record !== undefined; record = await own(given)) {
        // Repeated, as our renewal or another's request may come first. `wantedBy` stays: the release is for it.
        if (await change(record, { owner: '', renewedAt: Date.now(), ...(begun !== undefined && { begun }) })) return;
        await sleep(pauseMs);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
      }
    },
  };
}
