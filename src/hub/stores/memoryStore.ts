import { randomUUID } from 'node:crypto';
import type { Progress } from '../partition/checkpoints.ts';
import type { Ownership, Store } from './store.ts';

/** What the store holds, to be kept elsewhere as well. */
export interface Contents {
  readonly ownerships: readonly Ownership[];
  readonly progress: readonly { readonly partition: string; readonly progress: Progress }[];
}

/**
 * In this process's memory.
 * @param contents to begin with
 * @param keep is given the contents after each change of progress, or of who reads; answers false when somebody else keeps
 * contents there by now
 */
export function createMemoryStore(
  contents: Contents = { ownerships: [], progress: [] },
  keep: (contents: Contents) => Promise<boolean> = async () => true,
): Store {
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
      const tellsNews = current?.epoch !== next.epoch || current.begun !== next.begun;
      if (tellsNews && !(await keep(all()))) return undefined;
      return record;
    },
    progress: async (partition) => progress.get(partition),
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
