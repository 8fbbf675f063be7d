import type { PartitionProperties } from '@azure/event-hubs';
import { decodeCompletion, isDone } from '../../engine/completionMap.ts';
import { crashRecordAtOpening, decodeCrashRecord, encodeCrashRecord } from '../../engine/crashRecord.ts';
import type { Checkpoint } from '../../engine/progressTracker.ts';
import { type CheckpointStore, type Lease, UnreadableCheckpoint } from '../../stores/checkpointStore.ts';

/** Facts reading.partition-info, reading.empty-partition. The client's type excludes the null offset (fact reading.last-offset). */
type Extent = Pick<PartitionProperties, 'beginningSequenceNumber' | 'lastEnqueuedSequenceNumber'> & {
  readonly lastEnqueuedOffset: string | null;
};

export type StartPosition = 'earliest' | 'latest';

interface StartPositionOptions {
  readonly store: Pick<CheckpointStore, 'progress' | 'checkpoints' | 'writeCheckpoint'>;
  readonly extentOf: (partition: string) => Promise<Extent>;
  readonly partitionIds: () => readonly string[];
  readonly startPosition: StartPosition;
  readonly checkCheckpoint: ReturnType<typeof createForeignCheckpointCheck>;
  readonly afterUncleanShutdown: boolean;
}

/** Undefined when another instance owns the partition by now. @throws UnreadableCheckpoint, ForeignCheckpoint, OldInformation */
export async function startPositionOf(record: Lease, options: StartPositionOptions): Promise<Checkpoint | undefined> {
  const { store, extentOf, checkCheckpoint, afterUncleanShutdown } = options;
  const [written, extent] = await Promise.all([store.progress(record.partition), extentOf(record.partition)]);
  const newest = extent.lastEnqueuedSequenceNumber;
  if (written !== undefined) checkCheckpoint(record.partition, written.sequenceNumber, newest);
  const begun = written ?? (await startOf(record, extent, options));
  if (begun === undefined) return undefined;
  const { note: text, ...progress } = begun;
  const before = decodeCrashRecord(text);
  const position = progress.sequenceNumber;
  const done = decodeCompletion(position, progress.completed);
  const crashRecord = crashRecordAtOpening(before, {
    ...{ position, newest, afterUncleanShutdown },
    isDone: (sequenceNumber) => done !== undefined && isDone(done, sequenceNumber),
  });
  if (crashRecord === undefined) return progress;
  const marked = { ...progress, note: encodeCrashRecord(crashRecord) };
  // Written before the first message begins: this session may end in an unclean shutdown, too (G4).
  return crashRecord === before || (await store.writeCheckpoint(record, marked)) ? marked : undefined;
}

async function startOf(record: Lease, extent: Extent, options: StartPositionOptions): Promise<Checkpoint | undefined> {
  const { store, partitionIds } = options;
  // A checkpoint under a name that the hub does not have may be the one that the partition lacks (D195).
  const stray = (await store.checkpoints()).find((one) => !partitionIds().includes(one.partition));
  if (stray !== undefined)
    throw new UnreadableCheckpoint(
      `partition ${record.partition} has no checkpoint, and this one is of a partition that the hub does not have: ${stray.where}`,
    );
  if (options.startPosition === 'earliest')
    return { sequenceNumber: extent.beginningSequenceNumber - 1, offset: '-1', completed: '' };
  // Written now: for the next reader the latest event would be a newer one, and those in between would be lost (G1).
  const { lastEnqueuedOffset: offset, lastEnqueuedSequenceNumber: sequenceNumber } = extent;
  if (offset === null) throw new OldInformation('the hub does not say where its latest event is');
  const latest = { sequenceNumber, offset, completed: '' };
  return (await store.writeCheckpoint(record, latest)) ? latest : undefined;
}

/** The hub was created anew under its old name, or replaced by another: its sequence numbers start again (D22). */
export class ForeignCheckpoint extends Error {
  override readonly name = 'ForeignCheckpoint';
}

/** The hub's answer may be out of date: it must be asked again (fact reading.stale-info). */
export class OldInformation extends Error {
  override readonly name = 'OldInformation';
}

/** The hub's answer may be out of date for this time; a checkpoint beyond its newest event is foreign only after that. */
const foreignAfterMs = 60_000;
const foreignAfterReadings = 3;
/** Readings further apart are not counted together. */
const sameRowMs = 5 * 60_000;

/** Detects a checkpoint of another hub: to resume after it would skip events of this one. */
export function createForeignCheckpointCheck() {
  /** Partitions whose checkpoint was beyond the hub's newest event: how often in a row, and since when. */
  const beyond = new Map<string, { readings: number; since: number; last: number }>();

  /** @throws ForeignCheckpoint, OldInformation */
  return (partition: string, sequenceNumber: number, newest: number): void => {
    const now = performance.now();
    const before = beyond.get(partition);
    beyond.delete(partition);
    if (sequenceNumber <= newest) return;
    const isSame = before !== undefined && now - before.last < sameRowMs;
    const seen = { readings: 1 + (isSame ? before.readings : 0), since: isSame ? before.since : now, last: now };
    beyond.set(partition, seen);
    const what = `the checkpoint is at ${sequenceNumber}, but the hub says that it has come to ${newest} only`;
    if (seen.readings < foreignAfterReadings || now - seen.since < foreignAfterMs) throw new OldInformation(what);
    throw new ForeignCheckpoint(`${what}: the checkpoint is not of this hub`);
  };
}
