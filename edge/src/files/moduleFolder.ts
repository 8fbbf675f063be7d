import { randomUUID } from 'node:crypto';
import { type Dir, mkdirSync } from 'node:fs';
import { lstat, opendir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface Reservation {
  /** A new path for a download. */
  temporaryPath(): string;
  /** Renames a complete file; resolves with the name for the module. */
  finish(path: string): Promise<string>;
  /** Removes all files of this reservation and releases it. */
  discard(): Promise<void>;
  /** Leaves the finished files to the module: from now on they count while they exist. */
  release(): void;
}

interface Quota {
  readonly quotaBytes: number;
  readonly mostFiles: number;
}

const temporary = /^\.incoming-/;

export type ModuleFolder = ReturnType<typeof createModuleFolder>;

/** The folder of a module, with its quota (M12). */
export function createModuleFolder(folder: string) {
  let reserved = { bytes: 0, files: 0 };
  /** Files of open reservations, complete or not, which must not count twice. */
  const own = new Set<string>();
  let lastReservation: Promise<unknown> = Promise.resolve();

  /** @throws Error of the file system */
  async function tryReserve(quota: Quota, bytes: number, files: number): Promise<Reservation | undefined> {
    const { quotaBytes, mostFiles } = quota;
    // What is released meanwhile still counts as reserved, and its files do not.
    const before = reserved;
    const ownBefore = new Set(own);
    const used = await usageOf(folder, mostFiles, (name) => ownBefore.has(name) || own.has(name));
    if (used.bytes + before.bytes + bytes > quotaBytes || used.files + before.files + files > mostFiles)
      return undefined;
    reserved = { bytes: reserved.bytes + bytes, files: reserved.files + files };
    const names = new Set<string>();
    const pathOf = (name: string) => join(folder, name);
    const added = (name: string) => {
      names.add(name);
      own.add(name);
      return name;
    };
    const release = () => {
      reserved = { bytes: reserved.bytes - bytes, files: reserved.files - files };
      for (const name of names) own.delete(name);
    };
    return {
      temporaryPath: () => pathOf(added(`.incoming-${randomUUID()}`)),
      async finish(path) {
        const name = added(randomUUID());
        await rename(path, pathOf(name));
        return name;
      },
      async discard() {
        const all = [...names].map(pathOf);
        await Promise.all(all.map((path) => rm(path, { force: true }).catch(() => {})));
        release();
      },
      release,
    };
  }

  return {
    /** Creates the folder and removes unfinished downloads of an earlier process. Rejects when it cannot be used. */
    async prepare() {
      mkdirSync(folder, { recursive: true });
      for await (const entry of await opendir(folder)) {
        const isLeftOver = temporary.test(entry.name) && !own.has(entry.name) && !entry.isDirectory();
        if (isLeftOver) await rm(join(folder, entry.name), { force: true });
      }
    },
    /** Reserves part of the quota; undefined when too little is free. Rejects when the folder cannot be read. */
    reserve(quota: Quota, bytes: number, files: number) {
      // One after the other, so that two calls do not reserve the same bytes.
      const reservation = lastReservation.then(() => tryReserve(quota, bytes, files));
      lastReservation = reservation.catch(() => {});
      return reservation;
    },
  };
}

/** Of a folder in a folder: it is gone, or it does not let the proxy look into it, as the `lost+found` of a volume. */
const passedOver = ['ENOENT', 'ENOTDIR', 'EACCES'];

/**
 * What is in a folder and in those below it. Follows no links. Stops when there is more than can be allowed: a module can
 * fill its folder with any number of files.
 * @param isOwn names in the folder itself that do not count
 * @returns bytes, and files with folders and other entries
 * @throws Error of the file system
 */
async function usageOf(folder: string, mostFiles: number, isOwn: (name: string) => boolean) {
  let [bytes, files] = [0, 0];
  const waiting: string[] = [];

  async function count(dir: Dir, isCounted: (name: string) => boolean) {
    for await (const { name } of dir) {
      if (!isCounted(name)) continue;
      files += 1;
      if (files > mostFiles) return; // sizes no longer matter
      const path = join(dir.path, name);
      const found = await lstat(path).catch(() => undefined); // the module may just have removed it
      if (found?.isDirectory()) waiting.push(path);
      else if (found?.isFile()) bytes += found.size;
    }
  }

  await count(await opendir(folder), (name) => !isOwn(name));
  for (let path = waiting.pop(); path !== undefined && files <= mostFiles; path = waiting.pop()) {
    const dir = await opendir(path).catch((error: NodeJS.ErrnoException) => {
      if (passedOver.includes(error.code ?? '')) return undefined;
      throw error;
    });
    if (dir) await count(dir, () => true);
  }
  return { bytes, files };
}
