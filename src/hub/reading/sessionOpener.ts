import { within } from '../../concurrency/waiting.ts';
import type { DeviceEvent } from '../../engine/partition/intake.ts';
import type { PartitionOptions } from '../../engine/partition/partition.ts';
import { knownRedeliveryHorizon, openRedeliveryHorizon, type Progress } from '../../engine/progress/tracked.ts';
import type { LogText } from '../../log/events.ts';
import type { Troubles } from '../../log/troubles.ts';
import { type Meter, noMeter } from '../../metrics/meter.ts';
import { ofHub, type ReadingDiagnosis, storeFieldsOf } from '../../observing/diagnosis.ts';
import type { Taps } from '../../tap/taps.ts';
import type { CheckpointStore, Ownership } from '../stores/checkpointStore.ts';
import type { EventHubConnection } from './eventHubConnection.ts';
import { createForeignCheckpointCheck } from './foreignCheckpoint.ts';
import { createGapReports } from './gaps.ts';
import type { PartitionReaderOptions } from './reader.ts';
import { beginPartitionSession, type PartitionSession } from './session.ts';
import type { Revocation } from './sessionLife.ts';
import { type StartPosition, startPositionOf } from './startPosition.ts';

/** Opens sessions of partitions that this instance owns. */
export interface SessionOpener {
  /**
   * The position after which to read; undefined when another instance owns the partition by now.
   * @param afterUncleanShutdown the last owner has not released the partition (G4)
   * @throws what `startPositionOf` throws
   */
  startOf(record: Ownership, afterUncleanShutdown: boolean): Promise<Progress | undefined>;
  /** @param begun as the last owner wrote it in its release (D10) */
  begin(record: Ownership, begun: number | undefined, progress: Progress): PartitionSession;
}

export interface SessionOpenerOptions<A extends DeviceEvent>
  extends Pick<PartitionReaderOptions, 'batchSize' | 'prefetch' | 'maxWaitSeconds' | 'log'> {
  /** For a partition without a checkpoint. */
  readonly startPosition: StartPosition;
  /** All partitions of the hub, as they were last counted. */
  readonly partitionIds: () => readonly string[];
  readonly store: CheckpointStore;
  /** The longest that one answer of the hub or the store may take. */
  readonly answerMs: number;
  readonly meter?: Meter;
  /** The followers of devices; none when omitted. */
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

/** What a session tells about its partition. */
interface SessionEvents {
  /** The hub has delivered, or has nothing to deliver. */
  heard(partition: string): void;
  failed(partition: string, diagnosis: ReadingDiagnosis): void;
  /** Another instance reads the partition now; its session is revoked next. */
  noticed(partition: string, by: 'hub' | 'checkpoint'): void;
  revoke(partition: string, reason: Revocation): void;
}

export function createSessionOpener<A extends DeviceEvent>(
  connection: Pick<EventHubConnection, 'client'>,
  options: SessionOpenerOptions<A>,
  { heard, failed, noticed, revoke }: SessionEvents,
): SessionOpener {
  const { log, startPosition, partitionIds, allTroubles, meter = noMeter, taps } = options;
  const countCheckpoint = meter.counter('device_messaging.checkpoints');
  const answered = <T>(promise: Promise<T>): Promise<T> => within(promise, options.answerMs);
  const store: Pick<CheckpointStore, 'progress' | 'checkpoints' | 'writeProgress'> = {
    progress: (partition) => answered(options.store.progress(partition)),
    checkpoints: () => answered(options.store.checkpoints()),
    writeProgress: (reader, progress) => answered(options.store.writeProgress(reader, progress)),
  };
  const extentOf = (partition: string) => ofHub(answered(connection.client().getPartitionProperties(partition)));
  const checkCheckpoint = createForeignCheckpointCheck();
  const fixed = { store, extentOf, partitionIds, startPosition, checkCheckpoint };
  const newestOf = async (partition: string) => (await extentOf(partition)).lastEnqueuedSequenceNumber;
  const oldestOf = async (partition: string) => (await extentOf(partition)).beginningSequenceNumber;
  const sourceOf = (partition: string, message: LogText<'error'>) => `partition ${partition}: ${message}`;

  /** Returns false when another instance owns the partition. */
  async function writeCheckpoint(record: Ownership, progress: Progress): Promise<boolean> {
    log.flush?.(); // a message that is not handled again must have its line (G5)
    const isOurs = await store.writeProgress(record, progress).catch((error) => {
      countCheckpoint('failed');
      throw error;
    });
    countCheckpoint(isOurs ? 'written' : 'refused');
    allTroubles.clear(sourceOf(record.partition, 'checkpoint not written'));
    return isOurs;
  }

  return {
    startOf: (record, afterUncleanShutdown) =>
      startPositionOf(record, { ...fixed, afterUncleanShutdown: afterUncleanShutdown }),
    begin(record, begun, progress) {
      const { partition } = record;
      let announced = false;
      const onTrouble = (error: unknown, message: LogText<'error'>) =>
        allTroubles.raise(sourceOf(partition, message), {
          level: 'error',
          message,
          fields: { partition },
          diagnosis: { err: error, ...storeFieldsOf(error) },
        });
      options.sessionBegins?.(partition);
      return beginPartitionSession(connection.client(), {
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
          const isOurs = await writeCheckpoint(record, next);
          if (!isOurs) noticed(partition, 'checkpoint');
          return isOurs;
        },
        onTrouble,
        onRevoked: () => revoke(partition, 'lost'),
        failed: (diagnosis) => failed(partition, diagnosis),
        heard() {
          heard(partition);
          if (announced) return;
          announced = true;
          log.info({ partition, after: progress.sequenceNumber }, 'reading partition');
        },
        lost() {
          noticed(partition, 'hub');
          revoke(partition, 'lost');
        },
      });
    },
  };
}
