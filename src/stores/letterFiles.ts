import { randomUUID } from 'node:crypto';
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type LetterInfo, type LetterStorage, mostLetterBytes, UnreadableDeadLetter } from './deadLetter.ts';
import { makeFolder, makingAgain, readBounded, replaceFile, unlessMissing } from './directories.ts';

const suffix = '.json';
const isDraft = (name: string) => /\.json\.[0-9a-f-]{36}$/.test(name);

/** Unfinished files of a crash and empty folders are removed after this time. */
const leftoverMs = 60 * 60_000;

/** A directory with a folder for each device and a file for each dead letter. Only the owner can read them. */
export function createDirectory(directory: string): LetterStorage {
  const pathOf = (id: string) => join(directory, `${id}${suffix}`);
  let wasThere = false;

  /** @param parent of the files with these names; empty, or with a slash at its end */
  async function entriesIn(parent: string, names: readonly string[]): Promise<LetterInfo[]> {
    const ids = names.filter((name) => name.endsWith(suffix)).map((name) => parent + name.slice(0, -suffix.length));
    const found = await Promise.all(ids.map((id) => stat(pathOf(id)).catch(unlessMissing)));
    return ids.flatMap((id, index) => {
      const file = found[index];
      return file ? [{ id, bytes: file.size, at: file.mtimeMs }] : [];
    });
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
    return entriesIn(`${folder}/`, names);
  }

  async function write(path: string, text: string): Promise<void> {
    const draft = `${path}.${randomUUID()}`;
    try {
      makeFolder(dirname(path));
      await replaceFile(path, draft, text);
      wasThere = true;
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  return {
    async entries(only) {
      if (only !== undefined) return entriesOf(only);
      const found = (await readdir(directory, { withFileTypes: true }).catch(unlessMissing)) ?? [];
      const strays = found.filter((one) => one.isFile()).map(({ name }) => name);
      const entries = [await entriesIn('', strays)];
      for (const one of found)
        if (one.isDirectory() && /^[0-9a-f]{32}$/.test(one.name)) entries.push(await entriesOf(one.name));
      return entries.flat();
    },
    read: async (id) => readBounded(pathOf(id), mostLetterBytes, (problem) => new UnreadableDeadLetter(problem)),
    async write(id, text) {
      if (wasThere) await stat(directory).catch(makingAgain(directory));
      await write(pathOf(id), text).catch((error) => {
        if (error.code !== 'ENOENT') throw error;
        return write(pathOf(id), text); // another process removed the empty folder
      });
    },
    remove: (id) => rm(pathOf(id), { force: true }),
  };
}
