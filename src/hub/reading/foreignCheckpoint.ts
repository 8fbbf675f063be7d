import type { Progress } from '../partition/checkpoints.ts';

/** The hub has been made anew under its old name, or replaced by another: its numbers begin again (D22). */
export class ForeignCheckpoint extends Error {
  override readonly name = 'ForeignCheckpoint';
}

/** What the hub says cannot be relied on yet: it is to be asked again. */
export class OldInformation extends Error {
  override readonly name = 'OldInformation';
}

/** The hub may take so long to learn of its own newest events; a checkpoint beyond them is foreign only after that. */
const foreignAfterMs = 60_000;
const foreignAfterReadings = 3;
/** Readings further apart are not in a row. */
const sameRowMs = 5 * 60_000;

/**
 * Nothing that the hub has may be taken for read because an older hub's numbers were higher.
 * @throws ForeignCheckpoint
 * @throws OldInformation
 */
export type CheckCheckpoint = (
  partition: string,
  progress: Pick<Progress, 'sequenceNumber'>,
  extent: { readonly lastEnqueuedSequenceNumber: number },
) => void;

export function createForeignCheckpointCheck(): CheckCheckpoint {
  /** Partitions whose checkpoint was beyond what the hub said: how often in a row, and for how long. */
  const beyond = new Map<string, { readings: number; since: number; last: number }>();

  return (partition, { sequenceNumber }, { lastEnqueuedSequenceNumber }) => {
    if (sequenceNumber <= lastEnqueuedSequenceNumber) {
      beyond.delete(partition);
      return;
    }
    const now = performance.now();
    const before = beyond.get(partition);
    const isSame = before !== undefined && now - before.last < sameRowMs;
    const seen = { readings: 1 + (isSame ? before.readings : 0), since: isSame ? before.since : now, last: now };
    beyond.set(partition, seen);
    const what = `the checkpoint is at ${sequenceNumber}, but the hub says that it has come to ${lastEnqueuedSequenceNumber} only`;
    if (seen.readings < foreignAfterReadings || now - seen.since < foreignAfterMs) throw new OldInformation(what);
    throw new ForeignCheckpoint(`${what}: the checkpoint is not of this hub`);
  };
}
