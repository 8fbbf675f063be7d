import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { checkpointFile, checkpointPath, readCheckpointFile } from './checkpointFile.ts';
import type { CheckpointStore } from './checkpointStore.ts';
import { type Contents, createMemoryStore } from './memoryStore.ts';
import { progressOf } from './storedProgress.ts';
import { writeWhole } from './writeWhole.ts';

/**
 * In one file, for one instance; replaced as a whole, so that a crash leaves the old or the new one. The newest process
 * owns the file; an older one writes nothing more. A process claims the file at the first use, not at the start: one that
 * fails to start must not stop the one that runs.
 * @param place namespace, hub and consumer group; each has its own file
 * @throws Error when the file exists and is not valid: to start without it would repeat every message
 */
export function createFileStore(directory: string, place: string): CheckpointStore {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = checkpointPath(directory, place);
  const keeper = randomUUID();
  const draft = `${path}.${keeper}.new`;
  /** Drafts, and the separate completion maps of older versions. */
  const isLeftOver = (name: string) => name.startsWith(`${basename(path)}.`) && /\.(new|map)$/.test(name);
  let latest: Contents | undefined;
  let writing: Promise<boolean> | undefined;
  let taken: Promise<CheckpointStore> | undefined;
  const read = () => readCheckpointFile(path, place);
  read();

  async function replace(contents: Contents) {
    await writeWhole(draft, checkpointFile({ place, keeper, ...contents }));
    await rename(draft, path);
  }

  const isOurs = () => (read().keeper ?? keeper) === keeper;

  async function replaceAll() {
    while (latest !== undefined) {
      const contents = latest;
      latest = undefined;
      if (!isOurs()) return false;
      await replace(contents);
    }
    return true;
  }

  /** Calls during a write share the next write. */
  function keep(contents: Contents): Promise<boolean> {
    latest = contents;
    writing ??= replaceAll().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  async function removeLeftOvers() {
    const left = (await readdir(directory)).filter(isLeftOver);
    await Promise.all(left.map((name) => rm(join(directory, name), { force: true })));
  }

  async function take(): Promise<CheckpointStore> {
    const { ownerships, progress } = read();
    const contents = { ownerships, progress };
    await replace(contents);
    await removeLeftOvers();
    return createMemoryStore(contents, keep);
  }

  const where = (partition: string) => `${path}, partition ${partition}`;

  const store = () => {
    taken ??= take().catch((error) => {
      taken = undefined;
      throw error;
    });
    return taken;
  };

  async function storeOfOurs() {
    const ours = await store();
    if (isOurs()) return ours;
    throw new Error(
      `another process has taken ${path}, which serves one instance: when that one has gone, restart this one`,
    );
  }

  return {
    ownerships: async () => (await storeOfOurs()).ownerships(),
    change: async (seen, next) => (await storeOfOurs()).change(seen, next),
    async progress(partition) {
      const stored = await (await store()).progress(partition);
      return stored === undefined ? undefined : progressOf(stored, where(partition));
    },
    async checkpoints() {
      const found = await (await store()).checkpoints();
      return found.map(({ partition }) => ({ partition, where: where(partition) }));
    },
    writeProgress: async (reader, progress) => (await store()).writeProgress(reader, progress),
  };
}
