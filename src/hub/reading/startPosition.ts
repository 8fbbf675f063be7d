import type { PartitionProperties } from '@azure/event-hubs';
import { decodeCompletion, isDone } from '../../engine/progress/completionMap.ts';
import type { Progress } from '../../engine/progress/tracked.ts';
import { crashRecordAtOpening, decodeCrashRecord, encodeCrashRecord } from '../../engine/quarantine/crashRecord.ts';
import type { CheckpointStore, Ownership } from '../stores/checkpointStore.ts';
import { UnreadableCheckpoint } from '../stores/checkpointStore.ts';
import { type CheckCheckpoint, OldInformation } from './foreignCheckpoint.ts';

/**
 * Properties of a partition (facts reading.partition-info, reading.empty-partition). The hub sometimes sends a null offset, which
 * the client's type excludes (fact reading.last-offset).
 */
type Extent = Pick<PartitionProperties, 'beginningSequenceNumber' | 'lastEnqueuedSequenceNumber'> & {
  readonly lastEnqueuedOffset: string | null;
};

/** For a partition without a checkpoint. */
export type StartPosition = 'earliest' | 'latest';

interface StartPositionOptions {
  readonly store: Pick<CheckpointStore, 'progress' | 'checkpoints' | 'writeProgress'>;
  readonly extentOf: (partition: string) => Promise<Extent>;
  /** The ids of all partitions of the hub. */
  readonly partitionIds: () => readonly string[];
  readonly startPosition: StartPosition;
  readonly checkCheckpoint: CheckCheckpoint;
  /** Whether the last owner has not released the partition. */
  readonly afterUncleanShutdown: boolean;
}

/**
 * The position after which to read an owned partition, with its crash record; undefined when another instance owns it by now.
 * @throws UnreadableCheckpoint
 * @throws ForeignCheckpoint
 * @throws OldInformation
 */
export async function startPositionOf(record: Ownership, options: StartPositionOptions): Promise<Progress | undefined> {
  const { store, extentOf, checkCheckpoint, afterUncleanShutdown } = options;
  const [written, extent] = await Promise.all([store.progress(record.partition), extentOf(record.partition)]);
  if (written !== undefined) checkCheckpoint(record.partition, written, extent);
  const begun = written ?? (await startOf(record, extent, options));
  if (begun === undefined) return undefined;
  const { note: text, ...progress } = begun;
  const before = decodeCrashRecord(text);
  const newest = extent.lastEnqueuedSequenceNumber;
  const position = progress.sequenceNumber;
  const done = decodeCompletion(position, progress.completed);
  const isFinished = (sequenceNumber: number) => done !== undefined && isDone(done, sequenceNumber);
  const crashRecord = crashRecordAtOpening(before, {
    position,
    isDone: isFinished,
    newest,
    afterUncleanShutdown: afterUncleanShutdown,
  });
  if (crashRecord === undefined) return progress;
  const marked = { ...progress, note: encodeCrashRecord(crashRecord) };
  // Written before the first message begins: this session may end in an unclean shutdown, too (G4).
  return crashRecord === before || (await store.writeProgress(record, marked)) ? marked : undefined;
}

/** For a partition without a checkpoint. */
async function startOf(
  record: Ownership,
  extent: Extent,
  options: StartPositionOptions,
): Promise<Progress | undefined> {
  const { store, startPosition } = options;
  await refuseStrays(record.partition, options);
  if (startPosition === 'earliest')
    return { sequenceNumber: extent.beginningSequenceNumber - 1, offset: '-1', completed: '' };
  // Written now: for the next reader the latest event would be a newer one, and those in between would be lost (G1).
  const { lastEnqueuedOffset: offset, lastEnqueuedSequenceNumber: sequenceNumber } = extent;
  if (offset === null) throw new OldInformation('the hub does not say where its latest event is');
  const latest = { sequenceNumber, offset, completed: '' };
  return (await store.writeProgress(record, latest)) ? latest : undefined;
}

/** A checkpoint under a name that the hub does not have may be the one that the partition lacks (D195). */
async function refuseStrays(
  partition: string,
  { store, partitionIds }: Pick<StartPositionOptions, 'store' | 'partitionIds'>,
): Promise<void> {
  const stored = await store.checkpoints();
  if (stored.length === 0) return;
  const ids = partitionIds();
  const stray = stored.find((one) => !ids.includes(one.partition));
  if (stray === undefined) return;
  throw new UnreadableCheckpoint(
    `partition ${partition} has no checkpoint, and this one is of a partition that the hub does not have: ${stray.where}`,
  );
}
