import { knownHorizon, openHorizon } from '../partition/horizon.ts';
import type { Arriving } from '../partition/intake.ts';
import type { PartitionOptions } from '../partition/partition.ts';
import type { Store } from '../stores/store.ts';
import { within } from '../within.ts';
import type { Ownership } from './balance.ts';
import { createBelonging } from './belonging.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { EventLine } from './eventLine.ts';
import { diagnosisOf, ofHub } from './hubFailure.ts';
import { outsetOf } from './outset.ts';
import type { Ownerships } from './ownerships.ts';
import type { ReaderOptions } from './reader.ts';
import type { ReadingTroubles } from './readingTroubles.ts';
import { beginTenure, type Tenure } from './tenure.ts';

/** The partitions that this instance reads, and those on their way to it or to somebody else. */
export interface Tenures {
  /** Those it reads, or drains for somebody else. */
  all(): readonly Tenure[];
  /** Whether it reads the partition, opens it, or drains it. */
  has(partition: string): boolean;
  isLeaving(partition: string): boolean;
  /**
   * Begins to read a partition of one's own. What fails is to be tried again; where the hub has said no, or the
   * checkpoint is not of this hub, the troubles tell, and it does not reject.
   * @param begun what the reader before has said of how far it had come; D10
   * @param afterViolentEnd nobody has given the partition back since it was last read (G4)
   */
  open(record: Ownership, begun: number | undefined, afterViolentEnd?: boolean): Promise<void>;
  /** Ownership is gone: lets go of what has become somebody else's, by these records. */
  forgetLost(records: readonly Ownership[]): void;
  /** Drains and gives the partition back, for whoever wants it. What cannot be given back stays ours, unread. Never rejects. */
  release(partition: string): Promise<void>;
  /** Opens nothing any more, and releases all; ends soon after the drain limit, whatever hangs. */
  releaseAll(): Promise<void>;
}

export interface TenuresOptions<A extends Arriving>
  extends Pick<ReaderOptions, 'batchSize' | 'prefetch' | 'maxWaitSeconds' | 'log'> {
  /** Where a partition without a checkpoint is begun. */
  readonly startPosition: 'earliest' | 'latest';
  readonly store: Store;
  readonly drainMs: number;
  /** The longest that one answer of the hub or the store may take. */
  readonly answerMs: number;
  readonly troubles: ReadingTroubles;
  /** What each partition does with its events. */
  readonly partition: (
    id: string,
  ) => Omit<PartitionOptions<A>, 'progress' | 'horizon' | 'checkpoint' | 'onTrouble' | 'onGivenUp'>;
}

/** The longest that giving a partition back may take beyond its drain, when the service stops. */
const givesBackWithinMs = 10_000;

export function createTenures<A extends Arriving>(
  line: Pick<EventLine, 'client'>,
  ownerships: Pick<Ownerships, 'giveBack'>,
  options: TenuresOptions<A>,
): Tenures {
  const { log, drainMs, startPosition, troubles } = options;
  const answered = <T>(promise: Promise<T>): Promise<T> => within(promise, options.answerMs);
  const store: Pick<Store, 'progress' | 'writeProgress'> = {
    progress: (partition) => answered(options.store.progress(partition)),
    writeProgress: (reader, progress) => answered(options.store.writeProgress(reader, progress)),
  };
  const held = new Map<string, Tenure>();
  const coming = new Set<string>();
  const leaving = new Map<string, Promise<void>>();
  /** Claimed after a violent end, which is not written down yet. */
  const uncounted = new Set<string>();
  let closed = false;

  const extentOf = (partition: string) => ofHub(answered(line.client().getPartitionProperties(partition)));
  const fixed = { store, extentOf, startPosition, checkBelongs: createBelonging() };
  const newestOf = async (partition: string) => (await extentOf(partition)).lastEnqueuedSequenceNumber;

  async function beginToRead(record: Ownership, begun: number | undefined): Promise<void> {
    const { partition } = record;
    const afterViolentEnd = uncounted.has(partition);
    const progress = closed ? undefined : await outsetOf(record, { ...fixed, afterViolentEnd });
    if (progress !== undefined) uncounted.delete(partition);
    if (closed || progress === undefined) return ownerships.giveBack(record, begun);
    let announced = false;
    const onTrouble = (error: unknown, what: string) => log.error({ err: error, partition }, what);
    const tenure = beginTenure(line.client(), {
      ...options,
      ...options.partition(partition),
      record,
      progress,
      horizon: begun === undefined ? openHorizon(() => newestOf(partition), onTrouble) : knownHorizon(begun),
      checkpoint: (next) => store.writeProgress(record, next),
      onTrouble,
      onGivenUp: () => leave(partition),
      failed: (diagnosis) => failed(partition, diagnosis),
      heard() {
        troubles.over(partition);
        if (announced) return;
        announced = true;
        log.info({ partition, after: progress.sequenceNumber }, 'reading partition');
      },
      lost() {
        log.warn({ partition }, 'somebody else reads this partition now');
        leave(partition);
      },
    });
    held.set(partition, tenure);
  }

  function failed(partition: string, diagnosis: Diagnosis) {
    troubles.met(partition, diagnosis);
    // The next round reads the checkpoint again, which somebody may have removed by then.
    if (diagnosis.refusesPosition) leave(partition);
  }

  function leave(partition: string): void {
    const tenure = held.get(partition);
    if (tenure === undefined) return;
    if (leaving.has(partition)) {
      tenure.lose();
      return;
    }
    held.delete(partition);
    const left = tenure.abandon(drainMs).finally(() => leaving.delete(partition));
    leaving.set(partition, left);
  }

  async function giveBack(partition: string, tenure: Tenure): Promise<void> {
    try {
      const { left, begun } = await tenure.end(drainMs);
      held.delete(partition);
      await ownerships.giveBack(tenure.record, begun);
      log.info({ partition, left }, 'left partition');
    } catch (error) {
      notGivenBack(error);
    } finally {
      held.delete(partition);
      leaving.delete(partition);
    }
  }

  const notGivenBack = (error: unknown) => log.warn({ err: error }, 'a partition was not given back');

  function release(partition: string): Promise<void> {
    const underWay = leaving.get(partition);
    if (underWay !== undefined) return underWay;
    const tenure = held.get(partition);
    if (tenure === undefined) return Promise.resolve();
    const giving = giveBack(partition, tenure);
    leaving.set(partition, giving);
    return giving;
  }

  return {
    all: () => [...held.values()],
    has: (partition) => held.has(partition) || coming.has(partition) || leaving.has(partition),
    isLeaving: (partition) => leaving.has(partition),
    async open(record, begun, afterViolentEnd) {
      coming.add(record.partition);
      if (afterViolentEnd === true) uncounted.add(record.partition);
      if (afterViolentEnd === false) uncounted.delete(record.partition);
      try {
        await beginToRead(record, begun);
      } catch (error) {
        const diagnosis = diagnosisOf(error);
        if (diagnosis === undefined) throw error;
        troubles.met(record.partition, diagnosis);
        if (!diagnosis.isAnswer) throw error;
      } finally {
        coming.delete(record.partition);
      }
    },
    forgetLost(records) {
      for (const { partition, owner, epoch } of records) {
        const own = held.get(partition)?.record;
        if (own && (own.owner !== owner || own.epoch !== epoch)) leave(partition);
      }
    },
    release,
    async releaseAll() {
      closed = true;
      const partitions = new Set([...held.keys(), ...leaving.keys()]);
      const inTime = (partition: string) => within(release(partition), drainMs + givesBackWithinMs);
      await Promise.all([...partitions].map((partition) => inTime(partition).catch(notGivenBack)));
    },
  };
}
