import type { Progress } from '../../engine/progress/tracked.ts';

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

/**
 * Detects a checkpoint of another hub: to resume after it would skip events of this one.
 * @throws ForeignCheckpoint
 * @throws OldInformation
 */
export type CheckCheckpoint = (
  partition: string,
  progress: Pick<Progress, 'sequenceNumber'>,
  extent: { readonly lastEnqueuedSequenceNumber: number },
) => void;

export function createForeignCheckpointCheck(): CheckCheckpoint {
  /** Partitions whose checkpoint was beyond the hub's newest event: how often in a row, and since when. */
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
