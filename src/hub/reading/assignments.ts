import { within } from '../../concurrency/waiting.ts';
import type { DeviceEvent } from '../../engine/intake.ts';
import type { PartitionOptions } from '../../engine/partition.ts';
import { type Checkpoint, createRedeliveryHorizon } from '../../engine/progressTracker.ts';
import { diagnosisOf, ofHub } from '../../observing/diagnosis.ts';
import type { LogText } from '../../observing/events.ts';
import type { Troubles } from '../../observing/log.ts';
import { type Meter, noMeter } from '../../observing/metrics.ts';
import { storeFieldsOf } from '../../observing/storeFailure.ts';
import type { Taps } from '../../observing/taps.ts';
import type { CheckpointStore, Lease } from '../../stores/checkpointStore.ts';
import type { PartitionReaderOptions, PartitionSession, Revocation, SessionState } from './assignment.ts';
import { beginPartitionSession, createGapReports } from './assignment.ts';
import type { EventHubConnection } from './connection.ts';
import type { Leases } from './leases.ts';
import type { ReadingTroubles } from './readingTroubles.ts';
import { createForeignCheckpointCheck, type StartPosition, startPositionOf } from './startPosition.ts';

export interface PartitionSessionsOptions<A extends DeviceEvent>
  extends Pick<PartitionReaderOptions, 'batchSize' | 'prefetch' | 'maxWaitSeconds' | 'log'> {
  readonly startPosition: StartPosition;
  readonly partitionIds: () => readonly string[];
  readonly store: CheckpointStore;
  /** The longest that one answer of the hub or the store may take. */
  readonly answerMs: number;
  readonly drainMs: number;
  readonly meter?: Meter;
  readonly taps?: Pick<Taps, 'all'>;
  readonly troubles: ReadingTroubles;
  /** For failures after which a partition goes on. */
  readonly allTroubles: Troubles;
  readonly sessionBegins?: (partition: string) => void;
  readonly partition: (
    id: string,
  ) => Omit<PartitionOptions<A>, 'progress' | 'redeliveryHorizon' | 'checkpoint' | 'onGap' | 'onTrouble' | 'onRevoked'>;
}

/** An owned partition before its session, with what its last owner has left. */
interface Claim {
  readonly record: Lease;
  /** As it was written in the release (D10). */
  readonly begun?: number | undefined;
  /** The partition was not released, and its checkpoint does not count that yet (G4). */
  readonly afterUncleanShutdown: boolean;
}

/** The longest that the release of a partition may take beyond its drain, when the service stops. */
const releaseWithinMs = 10_000;

export type PartitionSessions = ReturnType<typeof createPartitionSessions>;

/** The partition sessions of this instance, one for each partition that it reads. */
export function createPartitionSessions<A extends DeviceEvent>(
  connection: Pick<EventHubConnection, 'client'>,
  ownerships: Pick<Leases, 'release'>,
  options: PartitionSessionsOptions<A>,
) {
  const { log, drainMs, troubles, allTroubles, meter = noMeter, taps } = options;
  const countBegun = meter.counter('device_messaging.sessions.begun');
  const countEnded = meter.counter('device_messaging.sessions.ended');
  const countCheckpoint = meter.counter('device_messaging.checkpoints');
  const opening = new Set<string>();
  const sessions = new Map<string, PartitionSession>();
  /** Of partitions that are owned and have had no session since they were claimed. */
  const claims = new Map<string, Claim>();
  /** What the last session of a partition left undone, and when, as `performance.now()`. */
  const left = new Map<string, { readonly messages: number; readonly at: number }>();
  let isStopping = false;

  const answered = <T>(promise: Promise<T>): Promise<T> => within(promise, options.answerMs);
  const store: Pick<CheckpointStore, 'progress' | 'checkpoints' | 'writeCheckpoint'> = {
    progress: (partition) => answered(options.store.progress(partition)),
    checkpoints: () => answered(options.store.checkpoints()),
    writeCheckpoint: (reader, progress) => answered(options.store.writeCheckpoint(reader, progress)),
  };
  const extentOf = (partition: string) => ofHub(answered(connection.client().getPartitionProperties(partition)));
  const start = { ...options, store, extentOf, checkCheckpoint: createForeignCheckpointCheck() };

  const logLost = (partition: string, noticedBy: 'hub' | 'ownership record' | 'checkpoint') =>
    log.warn({ partition, noticedBy }, 'another instance reads this partition now');

  const inState = (...states: readonly SessionState[]) =>
    [...sessions.values()].filter((session) => states.includes(session.state()));
  const all = () => inState('reading', 'draining');

  const revoke = (partition: string, reason: Revocation) => sessions.get(partition)?.revoke(reason);
  const notReleased = (error: unknown) => log.warn({ err: error }, 'a partition was not released');
  async function release(partition: string): Promise<void> {
    // One that is being opened is released when that has ended, at a stop.
    const claim = opening.has(partition) ? undefined : claims.get(partition);
    if (claim) await releaseUnread(claim).catch(notReleased);
    await sessions.get(partition)?.release();
  }

  async function releaseUnread(claim: Claim): Promise<void> {
    await ownerships.release(claim.record, claim.begun);
    claims.delete(claim.record.partition);
  }

  /** @returns false when another instance owns the partition */
  async function writeCheckpoint(record: Lease, progress: Checkpoint): Promise<boolean> {
    log.flush?.(); // a message that is not handled again must have its line (G5)
    const isOurs = await store.writeCheckpoint(record, progress).catch((error) => {
      countCheckpoint('failed');
      throw error;
    });
    countCheckpoint(isOurs ? 'written' : 'refused');
    allTroubles.clear(sourceOf(record.partition, 'checkpoint not written'));
    if (!isOurs) logLost(record.partition, 'checkpoint');
    return isOurs;
  }

  async function begin(claim: Claim): Promise<void> {
    const { record, begun } = claim;
    const { partition } = record;
    const progress = isStopping ? undefined : await startPositionOf(record, { ...start, ...claim });
    if (isStopping || progress === undefined) return releaseUnread(claim);
    claims.delete(partition);
    options.sessionBegins?.(partition);
    let announced = false;
    const onTrouble = (error: unknown, message: LogText<'error'>) =>
      allTroubles.raise(sourceOf(partition, message), {
        ...{ level: 'error', message, fields: { partition } },
        diagnosis: { err: error, ...storeFieldsOf(error) },
      });
    const newestOf = async () => (await extentOf(partition)).lastEnqueuedSequenceNumber;
    const oldestOf = async () => (await extentOf(partition)).beginningSequenceNumber;
    const session: PartitionSession = beginPartitionSession(connection.client(), {
      ...options,
      ...options.partition(partition),
      ...{ record, progress, onTrouble },
      gaps: createGapReports(partition, oldestOf, allTroubles, meter, taps),
      redeliveryHorizon: createRedeliveryHorizon(begun ?? newestOf, onTrouble),
      checkpoint: (next) => writeCheckpoint(record, next),
      onRevoked: () => revoke(partition, 'lost'),
      failed(diagnosis) {
        troubles.raise(partition, diagnosis);
        // The next round reads the checkpoint again; an operator may have removed it by then.
        if (diagnosis.refusesPosition) revoke(partition, 'refused');
      },
      heard() {
        troubles.clear(partition);
        left.delete(partition);
        if (announced) return;
        announced = true;
        log.info({ partition, after: progress.sequenceNumber }, 'reading partition');
      },
      lost() {
        logLost(partition, 'hub');
        revoke(partition, 'lost');
      },
      releaseLease: (newest) => ownerships.release(record, newest),
      ended: countEnded,
      gone() {
        sessions.delete(partition);
        left.set(partition, { messages: session.pending(), at: performance.now() });
      },
    });
    sessions.set(partition, session);
    countBegun();
  }

  return {
    all,
    reading: () => inState('reading'),
    /** Of the session of the partition; undefined when there is none. */
    stateOf: (partition: string): SessionState | undefined =>
      sessions.get(partition)?.state() ?? (opening.has(partition) ? 'opening' : undefined),
    /**
     * Does not reject when the hub refuses, or when the checkpoint is damaged or belongs to another hub: the troubles report that.
     * @param left by the last owner; omitted: as when the partition was claimed, or by a session of this instance
     */
    async open(record: Lease, left?: Omit<Claim, 'record'>): Promise<void> {
      const { partition } = record;
      const before = claims.get(partition);
      const known = before?.record.epoch === record.epoch ? before : undefined;
      const claim = { afterUncleanShutdown: false, ...known, ...left, record };
      opening.add(partition);
      claims.set(partition, claim);
      try {
        await begin(claim);
      } catch (error) {
        const diagnosis = diagnosisOf(error);
        if (diagnosis === undefined) throw error;
        troubles.raise(partition, diagnosis);
        if (!diagnosis.isAnswer) throw error;
      } finally {
        opening.delete(partition);
        if (isStopping) await release(partition); // nobody opens it again
      }
    },
    /** Revokes the sessions of partitions that belong to another instance, according to these records. */
    revokeLost(records: readonly Lease[]) {
      const known = new Map(records.map((record) => [record.partition, record]));
      for (const { record, revoke } of all()) {
        const { owner, epoch } = known.get(record.partition) ?? record;
        if (owner === record.owner && epoch === record.epoch) continue;
        logLost(record.partition, 'ownership record');
        revoke('lost');
      }
    },
    /** Revokes all sessions, also those of partitions that this instance still owns, and returns their partitions. */
    revokeAll(why: Revocation): readonly string[] {
      const revoked = all();
      for (const session of revoked) session.revoke(why);
      return revoked.map(({ record }) => record.partition);
    },
    /** Drains a session, if there is one, and releases the partition. When the release fails, this instance still owns the partition, unread. Never rejects. */
    release,
    /** Messages that sessions left undone when they ended, after this moment as `performance.now()`, and that are not read here again. */
    leftSince: (moment: number) =>
      [...left.values()].reduce((sum, { messages, at }) => sum + (at >= moment ? messages : 0), 0),
    /** Opens no more sessions and releases all partitions. Ends soon after the drain limit, also when something hangs. */
    async releaseAll() {
      isStopping = true;
      const inTime = (partition: string) => within(release(partition), drainMs + releaseWithinMs);
      const owned = new Set([...sessions.keys(), ...claims.keys()]);
      await Promise.all([...owned].map((partition) => inTime(partition).catch(notReleased)));
    },
  };
}

const sourceOf = (partition: string, message: LogText<'error'>) => `partition ${partition}: ${message}`;
