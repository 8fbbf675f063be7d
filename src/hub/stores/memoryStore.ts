import { randomUUID } from 'node:crypto';
import type { Progress } from '../../engine/progress/tracked.ts';
import type { CheckpointStore, Ownership } from './checkpointStore.ts';

/** The content of the store, in a form that can be saved. */
export interface Contents {
  readonly ownerships: readonly Ownership[];
  readonly progress: readonly { readonly partition: string; readonly progress: Progress }[];
}

/**
 * In this process's memory.
 * @param contents to begin with
 * @param keep saves the contents after a change of progress or owner; returns false when another process owns the file
 */
export function createMemoryStore(
  contents: Contents = { ownerships: [], progress: [] },
  keep: (contents: Contents) => Promise<boolean> = async () => true,
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
    progress: async (partition) => progress.get(partition),
    checkpoints: async () =>
      [...progress.keys()].map((partition) => ({ partition, where: `of partition ${partition}` })),
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
