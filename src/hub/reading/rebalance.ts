import { within } from '../../concurrency/waiting.ts';
import { diagnosisOf } from '../../observing/diagnosis.ts';
import type { Log, Troubles } from '../../observing/log.ts';
import { type StoreDiagnosis, StoreFailure, storeFieldsOf } from '../../observing/storeFailure.ts';
import type { Lease } from '../../stores/checkpointStore.ts';
import type { PartitionSessions } from './assignments.ts';
import { type BalanceLimits, decide } from './balance.ts';
import type { Leases } from './leases.ts';
import { type ReadingTroubles, wholeHub } from './readingTroubles.ts';

export interface LastRound {
  readonly records: readonly Lease[];
  /** Own partitions, with those that were to be claimed. */
  readonly owned: readonly string[];
  readonly isAllElsewhere: boolean;
  readonly isAwaiting: boolean;
  /** Since when an owned partition has no session, and not because the hub refuses it, as `performance.now()`. */
  readonly unreadSince: number | undefined;
  /** When a round was last complete, or refused by the hub; at first, the start of this instance. */
  readonly answeredAt: number;
  readonly storeTrouble: StoreDiagnosis | undefined;
}

export type RoundLimits = { readonly roundMs: number; readonly balance: BalanceLimits };

interface RoundsOptions extends RoundLimits {
  readonly me: string;
  readonly partitionIds: ReturnType<typeof createPartitionIds>;
  readonly ownerships: Leases;
  readonly sessions: PartitionSessions;
  readonly troubles: ReadingTroubles;
  readonly allTroubles: Pick<Troubles, 'raise' | 'clear'>;
  readonly log: Log;
  watch(): void;
  failedIdle(): void;
}

const roundTrouble = 'looking after the partitions';

/** Looks after the partitions of this instance: renews, releases, claims and opens what balance decides. */
export function createRounds(options: RoundsOptions) {
  const { me, roundMs, balance, partitionIds, ownerships, sessions, troubles, allTroubles, log } = options;
  let last: LastRound = {
    ...{ records: [], owned: [], isAllElsewhere: false, isAwaiting: false },
    ...{ unreadSince: undefined, answeredAt: performance.now(), storeTrouble: undefined },
  };

  /** Since then nobody else can have claimed what this instance owned; as `performance.now()`. */
  let lookedAt = performance.now();

  async function round(): Promise<void> {
    options.watch();
    await partitionIds.look();
    const records = await look();
    const decision = decide(me, partitionIds.all(), records, balance);
    sessions.revokeLost(records);
    // Before the next await: a partition that is released during it must not be opened again.
    const own = decision.renew.map(({ partition }) => partition);
    const owned = [...own, ...decision.claim];
    const unopened = new Set(own.filter((partition) => sessions.stateOf(partition) === undefined));
    const isUnread = (partition: string) => unopened.has(partition) || sessions.stateOf(partition) === 'opening';
    const isIncomplete = own.some((partition) => isUnread(partition) && !troubles.of(partition)?.isAnswer);
    const unreadSince = isIncomplete ? (last.unreadSince ?? performance.now()) : undefined;
    const isAwaiting = decision.ask.length > 0 || records.some((one) => one.owner !== me && one.wantedBy === me);
    last = { ...last, records, owned, unreadSince, isAwaiting };
    for (const place of troubles.places()) if (place !== wholeHub && !owned.includes(place)) troubles.clear(place);
    for (const { partition } of decision.release) void sessions.release(partition);
    const seen = new Map(records.map((record) => [record.partition, record]));
    const deleted = sessions.reading().filter(({ record }) => !seen.has(record.partition));
    // One record that cannot be changed keeps no other partition waiting.
    const changes = await Promise.allSettled([
      ...decision.renew.map(ownerships.renew),
      ...deleted.map(({ record }) => ownerships.restore(record)),
      ...decision.withdraw.map(ownerships.withdraw),
    ]);
    const renewed = changes.slice(0, own.length).map((one) => (one.status === 'fulfilled' ? one.value : undefined));
    // Limited: the next round must come in time to renew.
    const openings = await within(
      Promise.allSettled([
        ...renewed.map((record) => record && unopened.has(record.partition) && sessions.open(record)),
        ...decision.claim.map((partition) => claim(partition, seen.get(partition))),
      ]),
      Math.max(roundMs, balance.expiryMs / 3),
    );
    const asked = await Promise.allSettled(decision.ask.map(ownerships.ask));
    last = { ...last, isAllElsewhere: owned.length === 0 };
    const failed = [...changes, ...openings, ...asked].find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    last = { ...last, answeredAt: performance.now(), storeTrouble: undefined };
  }

  async function look() {
    const began = performance.now();
    const records = await ownerships.look();
    lookedAt = began;
    return records;
  }

  async function claim(partition: string, seen: Lease | undefined): Promise<void> {
    if (sessions.stateOf(partition) !== undefined) return;
    const record = await ownerships.claim(partition, seen);
    const begun = seen?.begun;
    if (record) await sessions.open(record, { begun, afterUncleanShutdown: seen !== undefined && begun === undefined });
  }

  function failed(error: unknown) {
    const diagnosis = diagnosisOf(error);
    if (diagnosis?.isAnswer) last = { ...last, answeredAt: performance.now() };
    last = { ...last, storeTrouble: error instanceof StoreFailure ? error.diagnosis : undefined };
    if (diagnosis === undefined) {
      const message = 'could not look after the partitions; trying again';
      allTroubles.raise(roundTrouble, { level: 'warn', message, diagnosis: { err: error, ...storeFieldsOf(error) } });
    } else if (partitionIds.all().length === 0) troubles.raise(wholeHub, diagnosis);
    if (sessions.all().length === 0) options.failedIdle();
  }

  return {
    /** Never rejects. */
    run: () => round().then(() => allTroubles.clear(roundTrouble), failed),
    /** Renews what is owned, and takes nothing: a drain may take longer than the expiry. Never rejects. */
    async renew() {
      try {
        const records = await look();
        sessions.revokeLost(records);
        await Promise.all(records.filter(({ owner }) => owner === me).map(ownerships.renew));
      } catch (error) {
        log.warn({ err: error, ...storeFieldsOf(error) }, 'ownership not renewed while stopping');
      }
    },
    last: () => last,
    lookedAt: () => lookedAt,
  };
}

const countsEveryMs = 5 * 60_000;

/** The ids of all partitions of the hub, as they were last counted. Their number can grow while the service runs. */
export function createPartitionIds(ask: () => Promise<readonly string[]>, troubles: ReadingTroubles, log: Log) {
  let ids: readonly string[] = [];
  let countedAt = 0;

  async function count(): Promise<void> {
    countedAt = performance.now();
    ids = await ask();
    troubles.clear(wholeHub);
  }

  return {
    all: () => ids,
    /** Counts when that is due. Waits for the answer, and rejects without one, only while no partition is known. */
    async look() {
      if (ids.length === 0) await count();
      else if (performance.now() - countedAt > countsEveryMs)
        void count().catch((err) => log.warn({ err }, 'cannot count the partitions of the hub; using the last count'));
    },
  };
}
