import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of a module, with its quota (M12). */
export interface Folder {
  readonly mode: number;
  /** Makes it if it is not there, and removes what an earlier process has left unfinished. Rejects when it cannot be used. */
  prepare(): Promise<void>;
  /** Room for so many bytes in so many files, until it is given back; undefined when there is none. */
  reserve(bytes: number, files: number): Promise<Reserved | undefined>;
}

export interface Reserved {
  /** A path where nothing is, for a file that is not whole yet. */
  unfinishedPath(): string;
  /** Gives a whole file the name under which the module finds it. Resolves with that name. */
  finish(unfinished: string): Promise<string>;
  /** Removes everything of this reservation: nothing was delivered. */
  discard(): Promise<void>;
  /** What was finished is the module's; it counts for as long as it lies there. */
  release(): void;
}

interface FolderOptions {
  readonly folder: string;
  readonly quotaBytes: number;
  readonly mostFiles: number;
  /** Octal. */
  readonly mode: string;
}

const unfinished = /^\.incoming-/;

export function createFolder({ folder, quotaBytes, mostFiles, mode }: FolderOptions): Folder {
  let reserved = { bytes: 0, files: 0 };
  /** Finished under a reservation that still holds: not counted twice. */
  const held = new Set<string>();
  let turn: Promise<unknown> = Promise.resolve();

  async function usage() {
    const names = (await readdir(folder)).filter((name) => !unfinished.test(name) && !held.has(name));
    let bytes = 0;
    // More files than are allowed need no count of their bytes.
    for (const name of names.slice(0, mostFiles)) {
      const found = await lstat(join(folder, name)).catch(() => undefined); // the module may remove it now
      if (found?.isFile()) bytes += found.size;
    }
    return { bytes, files: names.length };
  }

  async function tryToReserve(bytes: number, files: number): Promise<Reserved | undefined> {
    const used = await usage();
    if (used.bytes + reserved.bytes + bytes > quotaBytes || used.files + reserved.files + files > mostFiles)
      return undefined;
    reserved = { bytes: reserved.bytes + bytes, files: reserved.files + files };
    const paths = new Set<string>();
    const names = new Set<string>();
    const release = () => {
      reserved = { bytes: reserved.bytes - bytes, files: reserved.files - files };
      for (const name of names) held.delete(name);
    };
    return {
      unfinishedPath() {
        const path = join(folder, `.incoming-${randomUUID()}`);
        paths.add(path);
        return path;
      },
      async finish(path) {
        const name = randomUUID();
        names.add(name);
        held.add(name);
        await rename(path, join(folder, name));
        return name;
      },
      async discard() {
        const all = [...paths, ...[...names].map((name) => join(folder, name))];
        await Promise.all(all.map((path) => rm(path, { force: true }).catch(() => {})));
        release();
      },
      release,
    };
  }

  return {
    mode: Number.parseInt(mode, 8),
    async prepare() {
      await mkdir(folder, { recursive: true });
      const left = (await readdir(folder)).filter((name) => unfinished.test(name));
      await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
    },
    // One after the other: two must not take the same room.
    reserve(bytes, files) {
      const mine = turn.then(() => tryToReserve(bytes, files));
      turn = mine.catch(() => {});
      return mine;
    },
  };
}
