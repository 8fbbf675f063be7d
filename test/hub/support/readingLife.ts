import type { CheckpointStore } from '../../../src/stores/checkpointStore.ts';
import { claimed } from './claims.ts';

/** What an instance was told by its store: the next instance must find that. */
export interface Told {
  epoch: number;
  /** Newest checkpoint that the store has said is written, and the newest it was given. */
  written: number;
  given: number;
}

export const toldNothing = (): Told => ({ epoch: 0, written: -1, given: -1 });

/** Progress, up to 20 with a map that no label could hold. */
export const at = (sequenceNumber: number) => ({
  sequenceNumber,
  offset: String(sequenceNumber * 1000),
  completed: sequenceNumber > 20 ? '' : `2 ${sequenceNumber} ${String(sequenceNumber).repeat(4_000)}`,
});

/** All that an instance says to its store in its life, up to where somebody else has the partition. */
export async function readingLife(store: CheckpointStore, told: Told): Promise<void> {
  const [seen] = await store.ownerships();
  if (seen !== undefined) return;
  let record = await store.change(seen, claimed('victim', 1));
  if (record === undefined) return;
  told.epoch = record.epoch;
  await store.progress('0');
  for (const sequenceNumber of [10, 20]) {
    told.given = sequenceNumber;
    if (!(await store.writeCheckpoint(record, at(sequenceNumber)))) return;
    told.written = sequenceNumber;
    record = await store.change(record, { ...record, renewedAt: Date.now() });
    if (record === undefined) return;
  }
  await store.change(record, { ...record, owner: '', wantedBy: '' });
}
