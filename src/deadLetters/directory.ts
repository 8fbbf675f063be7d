import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readBounded } from '../storage/boundedReads.ts';
import type { LetterInfo, LetterStorage } from './letterStorage.ts';

const suffix = '.json';
const draftOf = (path: string) => `${path}.${randomUUID()}`;
const isDraft = (name: string) => /\.json\.[0-9a-f-]{36}$/.test(name);

/** Unfinished files of a crash and empty folders are removed after this time. */
const leftoverMs = 60 * 60_000;

/** A directory with a folder for each device and a file for each dead letter. Only the owner can read them. */
export function createDirectory(directory: string): LetterStorage {
  const pathOf = (id: string) => join(directory, `${id}${suffix}`);
  let wasThere = false;

  async function entryOf(id: string): Promise<LetterInfo[]> {
    const found = await stat(pathOf(id)).catch(unlessMissing);
    return found ? [{ id, bytes: found.size, at: found.mtimeMs }] : [];
  }

  async function removeLeftover(path: string, remove: (path: string) => Promise<void>): Promise<void> {
    const found = await stat(path).catch(unlessMissing);
    if (found && Date.now() - found.mtimeMs > leftoverMs) await remove(path).catch(() => undefined); // the next listing tries again
  }

  async function entriesOf(folder: string): Promise<LetterInfo[]> {
    const path = join(directory, folder);
    const names = (await readdir(path).catch(unlessMissing)) ?? [];
    if (names.length === 0) await removeLeftover(path, rmdir);
    for (const draft of names.filter(isDraft)) await removeLeftover(join(path, draft), (name) => rm(name));
    const ids = idsOf(names).map((id) => `${folder}/${id}`);
    return (await Promise.all(ids.map(entryOf))).flat();
  }

  /** Made again for the next attempt: the log is to tell of it first, because what was in it is lost. */
  async function checkNotGone(): Promise<void> {
    await stat(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') mkdirSync(directory, { recursive: true, mode: 0o700 });
      throw error;
    });
  }

  async function write(path: string, text: string): Promise<void> {
    const draft = draftOf(path);
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(draft, text, { mode: 0o600, flush: true });
      await rename(draft, path);
      wasThere = true;
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  return {
    async *entries(only) {
      if (only !== undefined) {
        yield* await entriesOf(only);
        return;
      }
      const found = (await readdir(directory, { withFileTypes: true }).catch(unlessMissing)) ?? [];
      const strays = idsOf(found.filter((one) => one.isFile()).map(({ name }) => name));
      for (const id of strays) yield* await entryOf(id);
      for (const one of found) {
        if (one.isDirectory() && /^[0-9a-f]{32}$/.test(one.name)) yield* await entriesOf(one.name);
      }
    },
    read: async (id, mostBytes) => {
      try {
        return readBounded(pathOf(id), mostBytes);
      } catch (error) {
        return unlessMissing(error as NodeJS.ErrnoException);
      }
    },
    async write(id, text) {
      if (wasThere) await checkNotGone();
      await write(pathOf(id), text).catch((error) => {
        if (error.code !== 'ENOENT') throw error;
        return write(pathOf(id), text); // another process removed the empty folder
      });
    },
    remove: (id) => rm(pathOf(id), { force: true }),
  };
}

const idsOf = (names: readonly string[]): string[] =>
  names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length));

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
