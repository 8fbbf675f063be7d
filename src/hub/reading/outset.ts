import type { PartitionProperties } from '@azure/event-hubs';
import type { Progress } from '../partition/checkpoints.ts';
import type { Store } from '../stores/store.ts';
import type { Ownership } from './balance.ts';

/** What the hub says of a partition, as far as it matters here. */
type Extent = Pick<
  PartitionProperties,
  'beginningSequenceNumber' | 'lastEnqueuedSequenceNumber' | 'lastEnqueuedOffset'
>;

/** The hub has been made anew under its old name, or replaced by another: its numbers begin again (D22). */
class ForeignCheckpoint extends Error {
  override readonly name = 'ForeignCheckpoint';
}

/**
 * Where to begin to read a partition of one's own; undefined when it is somebody else's by now.
 * @throws ForeignCheckpoint
 */
export async function outsetOf(
  record: Ownership,
  store: Pick<Store, 'progress' | 'writeProgress'>,
  extentOf: (partition: string) => Promise<Extent>,
  startPosition: 'earliest' | 'latest',
): Promise<Progress | undefined> {
  const [progress, extent] = await Promise.all([store.progress(record.partition), extentOf(record.partition)]);
  if (progress !== undefined) {
    checkBelongs(progress, extent);
    return progress;
  }
  if (startPosition === 'earliest') {
    return { sequenceNumber: extent.beginningSequenceNumber - 1, offset: '-1', completed: '' };
  }
  // The latest event would be another one for whoever comes next, and what came in between would be lost (G1).
  const latest = {
    sequenceNumber: extent.lastEnqueuedSequenceNumber,
    offset: extent.lastEnqueuedOffset,
    completed: '',
  };
  return (await store.writeProgress(record, latest)) ? latest : undefined;
}

/** Nothing that the hub has may be taken for read because an older hub's numbers were higher. */
function checkBelongs({ sequenceNumber }: Progress, { lastEnqueuedSequenceNumber }: Extent): void {
  if (sequenceNumber <= lastEnqueuedSequenceNumber) return;
  throw new ForeignCheckpoint(
    `the checkpoint is at ${sequenceNumber}, but the hub has come to ${lastEnqueuedSequenceNumber} only: ` +
      'it is not of this hub; remove the partition’s checkpoint to read it from the start position',
  );
}
