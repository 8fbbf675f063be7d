import { within } from '../../concurrency/within.ts';
import type { Arriving } from '../../engine/partition/intake.ts';
import type { PartitionOptions } from '../../engine/partition/partition.ts';
import { knownRedeliveryHorizon, openRedeliveryHorizon } from '../../engine/progress/redeliveryHorizon.ts';
import type { Message } from '../../log/events.ts';
import type { Troubles } from '../../log/troubles.ts';
import { type Meter, noMeter } from '../../metrics/meter.ts';
import type { Taps } from '../../tap/taps.ts';
import type { Ownership, Store } from '../stores/store.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { EventHubConnection } from './eventHubConnection.ts';
import { createForeignCheckpointCheck } from './foreignCheckpoint.ts';
import { createGapReports } from './gaps.ts';
import { diagnosisOf, ofHub } from './hubFailure.ts';
import type { Ownerships } from './ownerships.ts';
import type { ReaderOptions } from './reader.ts';
import type { ReadingTroubles } from './readingTroubles.ts';
import { beginPartitionSession, type PartitionSession } from './session.ts';
import { startPositionOf } from './startPosition.ts';

/** The partition sessions of this instance, one for each partition that it reads. */
export interface PartitionSessions {
  /** Sessions that read or drain. */
  all(): readonly PartitionSession[];
  /** Whether there is a session of the partition, in any state. */
  has(partition: string): boolean;
  /** Whether the session of the partition drains, or has been revoked and still ends. */
  isEnding(partition: string): boolean;
  /**
   * Begins a session of a partition that this instance owns. Does not reject when the hub refuses, or when the
   * checkpoint is damaged or belongs to another hub: the troubles report that. After any other failure the caller tries again.
   * @param begun as the last owner wrote it in its release (D10)
   * @param afterViolentEnd the last owner has not released the partition (G4)
   */
  open(record: Ownership, begun: number | undefined, afterViolentEnd?: boolean): Promise<void>;
  /** Revokes the sessions of partitions that belong to another instance, according to these records. */
  revokeLost(records: readonly Ownership[]): void;
  /** Revokes all sessions, also those of partitions that this instance still owns, and returns their partitions. */
  revokeAll(): readonly string[];
  /** Drains a session and releases its partition. One that cannot be released stays ours, unread. Never rejects. */
  release(partition: string): Promise<void>;
  /** Opens no more sessions and releases all partitions. Ends soon after the drain limit, also when something hangs. */
  releaseAll(): Promise<void>;
}

export interface PartitionSessionsOptions<A extends Arriving>
  extends Pick<ReaderOptions, 'batchSize' | 'prefetch' | 'maxWaitSeconds' | 'log'> {
  /** For a partition without a checkpoint. */
  readonly startPosition: 'earliest' | 'latest';
  /** All partitions of the hub, as they were last counted. */
  readonly partitionIds: () => readonly string[];
  readonly store: Store;
  readonly drainMs: number;
  /** The longest that one answer of the hub or the store may take. */
  readonly answerMs: number;
  readonly troubles: ReadingTroubles;
  readonly meter?: Meter;
  /** Who follows devices, of any partition; nobody when omitted. */
  readonly taps?: Pick<Taps, 'all'>;
  /** For failures after which a partition goes on. */
  readonly allTroubles: Troubles;
  /** Called before a partition is read. */
  readonly sessionBegins?: (partition: string) => void;
  /** What each partition does with its events. */
  readonly partition: (
    id: string,
  ) => Omit<PartitionOptions<A>, 'progress' | 'redeliveryHorizon' | 'checkpoint' | 'onGap' | 'onTrouble' | 'onRevoked'>;
}

/** The longest that the release of a partition may take beyond its drain, when the service stops. */
const releaseWithinMs = 10_000;

/** A session is removed when it has ended. */
type Entry =
  | { readonly state: 'opening' }
  | { readonly state: 'reading'; readonly session: PartitionSession }
  | { readonly state: 'draining'; readonly session: PartitionSession; readonly ended: Promise<void> }
  | { readonly state: 'revoked'; readonly ended: Promise<void> };

export function createPartitionSessions<A extends Arriving>(
  connection: Pick<EventHubConnection, 'client'>,
  ownerships: Pick<Ownerships, 'release'>,
  options: PartitionSessionsOptions<A>,
): PartitionSessions {
  const { log, drainMs, startPosition, partitionIds, troubles, allTroubles, meter = noMeter, taps } = options;
  const countBegun = meter.counter('device_messaging.sessions.begun');
  const countEnded = meter.counter('device_messaging.sessions.ended');
  const countCheckpoint = meter.counter('device_messaging.checkpoints');
  const answered = <T>(promise: Promise<T>): Promise<T> => within(promise, options.answerMs);
  const store: Pick<Store, 'progress' | 'checkpoints' | 'writeProgress'> = {
    progress: (partition) => answered(options.store.progress(partition)),
    checkpoints: () => answered(options.store.checkpoints()),
    writeProgress: (reader, progress) => answered(options.store.writeProgress(reader, progress)),
  };
  const entries = new Map<string, Entry>();
  /** Partitions claimed after a violent end that the checkpoint does not note yet. */
  const uncounted = new Set<string>();
  let isStopping = false;

  const extentOf = (partition: string) => ofHub(answered(connection.client().getPartitionProperties(partition)));
  const fixed = { store, extentOf, partitionIds, startPosition, checkCheckpoint: createForeignCheckpointCheck() };
  const newestOf = async (partition: string) => (await extentOf(partition)).lastEnqueuedSequenceNumber;
  const oldestOf = async (partition: string) => (await extentOf(partition)).beginningSequenceNumber;

  const sourceOf = (partition: string, message: Message<'error'>) => `partition ${partition}: ${message}`;

  function sessionOf(partition: string): PartitionSession | undefined {
    const entry = entries.get(partition);
    return entry !== undefined && 'session' in entry ? entry.session : undefined;
  }

  async function beginToRead(record: Ownership, begun: number | undefined): Promise<void> {
    const { partition } = record;
    const afterViolentEnd = uncounted.has(partition);
    const progress = isStopping ? undefined : await startPositionOf(record, { ...fixed, afterViolentEnd });
    if (progress !== undefined) uncounted.delete(partition);
    if (isStopping || progress === undefined) return ownerships.release(record, begun);
    let announced = false;
    let isOurs = true;
    const onTrouble = (error: unknown, message: Message<'error'>) =>
      allTroubles.met(sourceOf(partition, message), { level: 'error', message, fields: { err: error, partition } });
    options.sessionBegins?.(partition);
    const session = beginPartitionSession(connection.client(), {
      ...options,
      ...options.partition(partition),
      record,
      progress,
      gaps: createGapReports({ partition, oldestOf: () => oldestOf(partition), troubles: allTroubles, meter, taps }),
      redeliveryHorizon:
        begun === undefined
          ? openRedeliveryHorizon(() => newestOf(partition), onTrouble)
          : knownRedeliveryHorizon(begun),
      async checkpoint(next) {
        log.flush?.(); // a message that is not handled again must have its line (G5)
        isOurs = await store.writeProgress(record, next).catch((error) => {
          countCheckpoint('failed');
          throw error;
        });
        countCheckpoint(isOurs ? 'written' : 'refused');
        allTroubles.over(sourceOf(partition, 'checkpoint not written'));
        if (!isOurs) logLost(partition, 'checkpoint');
        return isOurs;
      },
      onTrouble,
      onRevoked: () => revoke(partition, isOurs ? 'spool_unreadable' : 'lost'),
      failed: (diagnosis) => failed(partition, diagnosis),
      heard() {
        troubles.over(partition);
        if (announced) return;
        announced = true;
        log.info({ partition, after: progress.sequenceNumber }, 'reading partition');
      },
      lost() {
        logLost(partition, 'hub');
        revoke(partition, 'lost');
      },
    });
    entries.set(partition, { state: 'reading', session });
    countBegun();
  }

  function failed(partition: string, diagnosis: Diagnosis) {
    troubles.met(partition, diagnosis);
    // The next round reads the checkpoint again; an operator may have removed it by then.
    if (diagnosis.refusesPosition) revoke(partition, 'refused');
  }

  function revoke(partition: string, reason: 'lost' | 'stood_still' | 'refused' | 'spool_unreadable'): void {
    const entry = entries.get(partition);
    if (entry?.state === 'draining' || entry?.state === 'reading') countEnded(reason);
    if (entry?.state === 'draining') {
      entry.session.revoke();
      entries.set(partition, { state: 'revoked', ended: entry.ended });
    } else if (entry?.state === 'reading') {
      const ended = entry.session.close(drainMs).finally(() => entries.delete(partition));
      entries.set(partition, { state: 'revoked', ended });
    }
  }

  /** A revocation has been counted already. */
  function countEndedUnlessRevoked(partition: string, reason: 'released' | 'not_released') {
    if (entries.get(partition)?.state !== 'revoked') countEnded(reason);
  }

  async function drainAndRelease(partition: string, session: PartitionSession): Promise<void> {
    try {
      const { unfinished, begun } = await session.drain(drainMs);
      await ownerships.release(session.record, begun);
      countEndedUnlessRevoked(partition, 'released');
      log.info({ partition, unfinished }, 'partition released');
    } catch (error) {
      countEndedUnlessRevoked(partition, 'not_released');
      notReleased(error);
    } finally {
      entries.delete(partition);
    }
  }

  const logLost = (partition: string, noticedBy: 'hub' | 'ownership record' | 'checkpoint') =>
    log.warn({ partition, noticedBy }, 'another instance reads this partition now');

  const notReleased = (error: unknown) => log.warn({ err: error }, 'a partition was not released');

  function release(partition: string): Promise<void> {
    const entry = entries.get(partition);
    if (entry === undefined || entry.state === 'opening') return Promise.resolve();
    if (entry.state !== 'reading') return entry.ended;
    const { session } = entry;
    const ended = drainAndRelease(partition, session);
    entries.set(partition, { state: 'draining', session, ended });
    return ended;
  }

  return {
    all: () => [...entries.keys()].flatMap((partition) => sessionOf(partition) ?? []),
    has: (partition) => entries.has(partition),
    isEnding(partition) {
      const state = entries.get(partition)?.state;
      return state === 'draining' || state === 'revoked';
    },
    async open(record, begun, afterViolentEnd) {
      const { partition } = record;
      entries.set(partition, { state: 'opening' });
      if (afterViolentEnd === true) uncounted.add(partition);
      if (afterViolentEnd === false) uncounted.delete(partition);
      try {
        await beginToRead(record, begun);
      } catch (error) {
        const diagnosis = diagnosisOf(error);
        if (diagnosis === undefined) throw error;
        troubles.met(partition, diagnosis);
        if (!diagnosis.isAnswer) throw error;
      } finally {
        if (entries.get(partition)?.state === 'opening') entries.delete(partition);
      }
    },
    revokeLost(records) {
      for (const { partition, owner, epoch } of records) {
        const own = sessionOf(partition)?.record;
        if (own === undefined || (own.owner === owner && own.epoch === epoch)) continue;
        logLost(partition, 'ownership record');
        revoke(partition, 'lost');
      }
    },
    revokeAll() {
      const all = [...entries.keys()].filter((partition) => sessionOf(partition) !== undefined);
      for (const partition of all) revoke(partition, 'stood_still');
      return all;
    },
    release,
    async releaseAll() {
      isStopping = true;
      const inTime = (partition: string) => within(release(partition), drainMs + releaseWithinMs);
      await Promise.all([...entries.keys()].map((partition) => inTime(partition).catch(notReleased)));
    },
  };
}
