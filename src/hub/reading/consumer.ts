import { randomUUID } from 'node:crypto';
import { knownHorizon, openHorizon } from '../partition/horizon.ts';
import type { Arriving, PartitionOptions } from '../partition/partition.ts';
import type { Store } from '../stores/store.ts';
import { within } from '../within.ts';
import { type BalanceLimits, decide, type Ownership } from './balance.ts';
import { type EventLineOptions, openEventLine } from './eventLine.ts';
import { outsetOf } from './outset.ts';
import { createOwnerships } from './ownerships.ts';
import type { ReaderOptions } from './reader.ts';
import { beginTenure, type Tenure } from './tenure.ts';

/** Reads the hub's event endpoint: its share of the partitions, in rounds of looking who reads what. */
export interface Consumer {
  start(): void;
  /** Whether it reads a partition, or the others read all there are. */
  isReading(): boolean;
  /**
   * Milliseconds since the hub last gave a sign of life for every partition it reads, and since every partition it owns
   * could be read; while it reads none, since it has last been able to look for one. Restarting subscriptions
   * and connections has not helped for so long.
   */
  silentForMs(): number;
  /** Stops intake, waits up to the drain limit for what is running, checkpoints and lets go of the partitions (G3). */
  stop(): Promise<void>;
}

export interface ConsumerOptions<A extends Arriving>
  extends EventLineOptions,
    Pick<ReaderOptions, 'startPosition' | 'batchSize' | 'prefetch' | 'maxWaitSeconds'> {
  readonly drainMs: number;
  readonly roundMs: number;
  /** The longest that one answer of the hub or the store may take. */
  readonly answerMs: number;
  readonly balance: BalanceLimits;
  readonly store: Store;
  /** What each partition does with its events. */
  readonly partition: (
    id: string,
  ) => Omit<PartitionOptions<A>, 'progress' | 'horizon' | 'checkpoint' | 'onTrouble' | 'onGivenUp'>;
}

/** The longest that giving a partition back may take beyond its drain, when the service stops. */
const givesBackWithinMs = 10_000;

const countEveryMs = 5 * 60_000;

export function createConsumer<A extends Arriving>(options: ConsumerOptions<A>): Consumer {
  const { store, log, drainMs, roundMs, balance } = options;
  const answered = <T>(promise: Promise<T>): Promise<T> => within(promise, options.answerMs);
  const answering: Pick<Store, 'progress' | 'writeProgress'> = {
    progress: (partition) => answered(store.progress(partition)),
    writeProgress: (reader, progress) => answered(store.writeProgress(reader, progress)),
  };
  const me = randomUUID();
  const ownerships = createOwnerships(store, me, options.answerMs, balance.expiryMs / 2);
  const held = new Map<string, Tenure>();
  /** Partitions that are on their way to us, or to somebody else: not to be read again before that is over. */
  const coming = new Set<string>();
  const leaving = new Map<string, Promise<void>>();
  const line = openEventLine(options);
  let partitions: readonly string[] = [];
  let countedAt = 0;
  /** Since when there is a partition of ours that cannot be read. */
  let unreadSince: number | undefined;
  let lastRound = performance.now();
  let othersReadAll = false;
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;
  let rounding: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    line.revive([...held.values()].filter(({ record }) => !leaving.has(record.partition)));
    if (partitions.length === 0) await countPartitions();
    else if (performance.now() - countedAt > countEveryMs) void countPartitions().catch(notCounted);
    const { records, sightedAt } = await ownerships.look();
    const decision = decide(me, partitions, records, Date.now(), balance, sightedAt);
    forgetLost(records);
    const seen = new Map(records.map((record) => [record.partition, record]));
    // Before anything is waited for: what is given back meanwhile is not unread.
    const unread = new Set(decision.renew.map(({ partition }) => partition).filter((partition) => !isOurs(partition)));
    const isWaiting = decision.renew.some(({ partition }) => !held.has(partition) && !leaving.has(partition));
    unreadSince = isWaiting ? (unreadSince ?? performance.now()) : undefined;
    for (const { partition } of decision.release) {
      if (!leaving.has(partition)) void release(partition).catch(notGivenBack);
    }
    const renewed = await Promise.all(decision.renew.map(ownerships.renew));
    // However long that takes, what is read must be renewed in time.
    const openings = await within(
      Promise.allSettled([
        ...renewed.map((record) => record && unread.has(record.partition) && open(record, undefined)),
        ...decision.claim.map((partitionId) => claim(partitionId, seen.get(partitionId))),
      ]),
      Math.max(roundMs, balance.expiryMs / 3),
    );
    await Promise.all(decision.ask.map(ownerships.ask));
    othersReadAll = decision.renew.length === 0 && decision.claim.length === 0 && records.length === partitions.length;
    const failed = openings.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    lastRound = performance.now();
  }

  /** An event hub behind a route can be given more of them. */
  async function countPartitions(): Promise<void> {
    countedAt = performance.now();
    partitions = await answered(line.client().getPartitionIds());
  }

  /** A drain may take longer than ownership lasts: until all is given back, nobody is to take it for deserted. */
  async function renewOwn(): Promise<void> {
    const { records } = await ownerships.look();
    forgetLost(records);
    await Promise.all(records.filter(({ owner }) => owner === me).map(ownerships.renew));
  }

  const isOurs = (partitionId: string) => held.has(partitionId) || coming.has(partitionId) || leaving.has(partitionId);

  async function claim(partitionId: string, seen: Ownership | undefined): Promise<void> {
    if (isOurs(partitionId)) return;
    const record = await ownerships.claim(partitionId, seen);
    if (record) await open(record, seen?.begun);
  }

  /**
   * Begins to read a partition of one's own. What fails is tried again in the next round.
   * @param begun what the reader before has said of how far it had come; D10
   */
  async function open(record: Ownership, begun: number | undefined): Promise<void> {
    coming.add(record.partition);
    try {
      await beginToRead(record, begun);
    } finally {
      coming.delete(record.partition);
    }
  }

  async function beginToRead(record: Ownership, begun: number | undefined): Promise<void> {
    const partitionId = record.partition;
    const progress = stopping ? undefined : await outsetOf(record, answering, extentOf, options.startPosition);
    if (stopping || progress === undefined) return ownerships.giveBack(record, begun);
    const onTrouble = (error: unknown, what: string) => log.error({ err: error, partition: partitionId }, what);
    const tenure = beginTenure(line.client(), {
      ...options,
      ...options.partition(partitionId),
      record,
      progress,
      horizon: begun === undefined ? openHorizon(() => newestOf(partitionId), onTrouble) : knownHorizon(begun),
      checkpoint: (next) => answering.writeProgress(record, next),
      onTrouble,
      onGivenUp: () => leave(partitionId),
      lost() {
        log.warn({ partition: partitionId }, 'somebody else reads this partition now');
        leave(partitionId);
      },
    });
    held.set(partitionId, tenure);
    log.info({ partition: partitionId, after: progress.sequenceNumber }, 'reading partition');
  }

  const extentOf = (partitionId: string) => answered(line.client().getPartitionProperties(partitionId));
  const newestOf = async (partitionId: string) => (await extentOf(partitionId)).lastEnqueuedSequenceNumber;

  /** Ownership is gone. */
  function leave(partitionId: string): void {
    const tenure = held.get(partitionId);
    if (tenure === undefined || leaving.has(partitionId)) return;
    held.delete(partitionId);
    leaving.set(
      partitionId,
      tenure.abandon(drainMs).finally(() => leaving.delete(partitionId)),
    );
  }

  /** Drains and gives the partition back, for whoever wants it. What is not given back is opened again by a later round. */
  function release(partitionId: string): Promise<void> {
    const tenure = held.get(partitionId);
    const underWay = leaving.get(partitionId);
    if (underWay !== undefined) return underWay;
    if (tenure === undefined) return Promise.resolve();
    const giving = giveBack(partitionId, tenure);
    leaving.set(partitionId, giving);
    return giving;
  }

  async function giveBack(partitionId: string, tenure: Tenure): Promise<void> {
    try {
      const { left, begun } = await tenure.end(drainMs);
      held.delete(partitionId);
      await ownerships.giveBack(tenure.record, begun);
      log.info({ partition: partitionId, left }, 'left partition');
    } finally {
      held.delete(partitionId);
      leaving.delete(partitionId);
    }
  }

  /** Then it is taken over when the ownership expires. */
  const notGivenBack = (error: unknown) => log.warn({ err: error }, 'a partition was not given back');
  const notCounted = (error: unknown) =>
    log.warn({ err: error }, 'not known whether the hub has more partitions by now');
  const notRenewed = (error: unknown) => log.warn({ err: error }, 'ownership not renewed while stopping');

  function forgetLost(records: readonly Ownership[]): void {
    for (const { partition, owner, epoch } of records) {
      const tenure = held.get(partition);
      if (tenure && (owner !== me || epoch !== tenure.record.epoch)) leave(partition);
    }
  }

  function nextRound(afterMs: number): void {
    timer = setTimeout(() => {
      rounding = round()
        .catch((error) => {
          log.warn({ err: error }, 'could not look after the partitions; trying again');
          if (held.size === 0) line.replace();
        })
        .then(() => {
          if (!stopping) nextRound(roundMs);
        });
    }, afterMs);
  }

  return {
    start: () => nextRound(0),
    isReading: () => held.size > 0 || othersReadAll,
    silentForMs() {
      if (held.size === 0) return performance.now() - lastRound;
      const unreadMs = unreadSince === undefined ? 0 : performance.now() - unreadSince;
      return Math.max(unreadMs, ...Array.from(held.values(), ({ reader }) => reader.deafForMs()));
    },
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await within(rounding, 2_000).catch(() => log.warn('stopping in the middle of a round'));
      const renewing = setInterval(() => void renewOwn().catch(notRenewed), roundMs);
      const ids = new Set([...held.keys(), ...leaving.keys()]);
      await Promise.all([...ids].map((id) => within(release(id), drainMs + givesBackWithinMs).catch(notGivenBack)));
      clearInterval(renewing);
      await line.close();
    },
  };
}
