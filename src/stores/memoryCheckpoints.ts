import { randomUUID } from 'node:crypto';
import type { Progress } from '../engine/progressTracker.ts';
import { type CheckpointStore, type Ownership, progressOf } from './checkpointStore.ts';

/** The content of the store, in a form that can be saved. */
export interface Contents {
  readonly ownerships: readonly Ownership[];
  readonly progress: readonly { readonly partition: string; readonly progress: Progress }[];
}

/**
 * In this process's memory.
 * @param contents to begin with; the progress of a partition is checked when that partition is opened
 * @param keep saves the contents after a change of progress or owner; returns false when another process owns the file
 * @param where names the checkpoint of a partition for an operator
 */
export function createMemoryStore(
  contents: Contents = { ownerships: [], progress: [] },
  keep: (contents: Contents) => Promise<boolean> = async () => true,
  where = (partition: string) => `of partition ${partition}`,
): CheckpointStore {
  const ownerships = new Map(contents.ownerships.map((one) => [one.partition, one]));
  const progress = new Map(contents.progress.map((one) => [one.partition, one.progress]));
  const all = (): Contents => ({
    ownerships: [...ownerships.values()],
    progress: Array.from(progress, ([partition, one]) => ({ partition, progress: one })),
  });

  return {
    ownerships: async () => [...ownerships.values()],
    async change(seen, next) {
      const current = ownerships.get(next.partition);
      if (current?.etag !== seen?.etag) return undefined;
      const record = { ...next, etag: randomUUID() };
      ownerships.set(next.partition, record);
      const isToBeSaved = current?.epoch !== next.epoch || current.begun !== next.begun;
      if (isToBeSaved && !(await keep(all()))) return undefined;
      return record;
    },
    async progress(partition) {
      const stored = progress.get(partition);
      return stored === undefined ? undefined : progressOf(stored, where(partition));
    },
    checkpoints: async () => [...progress.keys()].map((partition) => ({ partition, where: where(partition) })),
    async writeProgress({ partition, owner, epoch }, next) {
      const record = ownerships.get(partition);
      if (record?.owner !== owner || record.epoch !== epoch) return false;
      const current = progress.get(partition);
      if (current && current.sequenceNumber > next.sequenceNumber) return true;
      progress.set(partition, next);
      return keep(all());
    },
  };
}
