import type { PartitionProperties } from '@azure/event-hubs';
import type { Progress } from '../partition/checkpoints.ts';
import { decodeNote, encodeNote, noteAtOpening } from '../quarantine/note.ts';
import type { Ownership, Store } from '../stores/store.ts';
import { type CheckCheckpoint, OldInformation } from './foreignCheckpoint.ts';

/** What the hub says of a partition, as far as it matters here. The offset is null now and then, whatever its type says. */
type Extent = Pick<PartitionProperties, 'beginningSequenceNumber' | 'lastEnqueuedSequenceNumber'> & {
  readonly lastEnqueuedOffset: string | null;
};

interface StartPositionOptions {
  readonly store: Pick<Store, 'progress' | 'writeProgress'>;
  readonly extentOf: (partition: string) => Promise<Extent>;
  readonly startPosition: 'earliest' | 'latest';
  readonly checkCheckpoint: CheckCheckpoint;
  /** Whether nobody gave the partition back since it was last read. */
  readonly afterViolentEnd: boolean;
}

/**
 * Where to begin to read a partition of one's own, and what is noted of violent ends; undefined when it is somebody
 * else's by now.
 * @throws ForeignCheckpoint
 * @throws OldInformation
 */
export async function startPositionOf(record: Ownership, options: StartPositionOptions): Promise<Progress | undefined> {
  const { store, extentOf, checkCheckpoint, afterViolentEnd } = options;
  const [written, extent] = await Promise.all([store.progress(record.partition), extentOf(record.partition)]);
  if (written !== undefined) checkCheckpoint(record.partition, written, extent);
  const begun = written ?? (await startOf(record, extent, options));
  if (begun === undefined) return undefined;
  const { note: text, ...progress } = begun;
  const before = decodeNote(text);
  const newest = extent.lastEnqueuedSequenceNumber;
  const note = noteAtOpening(before, { position: progress.sequenceNumber, newest, afterViolentEnd });
  if (note === undefined) return progress;
  const noted = { ...progress, note: encodeNote(note) };
  // Before anything begins: this session may end like the one before (G4).
  return note === before || (await store.writeProgress(record, noted)) ? noted : undefined;
}

/** Of a partition without a checkpoint. */
async function startOf(
  record: Ownership,
  extent: Extent,
  { store, startPosition }: StartPositionOptions,
): Promise<Progress | undefined> {
  if (startPosition === 'earliest') {
    return { sequenceNumber: extent.beginningSequenceNumber - 1, offset: '-1', completed: '' };
  }
  // The latest event would be another one for whoever comes next, and what came in between would be lost (G1).
  const { lastEnqueuedOffset: offset, lastEnqueuedSequenceNumber: sequenceNumber } = extent;
  if (offset === null) throw new OldInformation('the hub does not say where its latest event is');
  const latest = { sequenceNumber, offset, completed: '' };
  return (await store.writeProgress(record, latest)) ? latest : undefined;
}
