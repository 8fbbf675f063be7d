import { randomUUID } from 'node:crypto';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from './makeDirectory.ts';

/** The folder of a module, with its quota (M12). */
export interface ModuleFolder {
  readonly mode: number;
  /** Creates the folder and removes unfinished downloads of an earlier process. Rejects when it cannot be used. */
  prepare(): Promise<void>;
  /** Reserves part of the quota; undefined when too little is free. */
  reserve(bytes: number, files: number): Promise<Reservation | undefined>;
}

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

interface FolderOptions {
  readonly folder: string;
  readonly quotaBytes: number;
  readonly mostFiles: number;
  /** Octal. */
  readonly mode: string;
}

const temporary = /^\.incoming-/;

export function createModuleFolder({ folder, quotaBytes, mostFiles, mode }: FolderOptions): ModuleFolder {
  let reserved = { bytes: 0, files: 0 };
  /** Finished files of open reservations, which must not count twice. */
  const finished = new Set<string>();
  let lastReservation: Promise<unknown> = Promise.resolve();

  async function usage() {
    const names = (await readdir(folder)).filter((name) => !temporary.test(name) && !finished.has(name));
    let bytes = 0;
    // With too many files their sizes no longer matter.
    for (const name of names.slice(0, mostFiles)) {
      const found = await lstat(join(folder, name)).catch(() => undefined); // the module may just have removed it
      if (found?.isFile()) bytes += found.size;
    }
    return { bytes, files: names.length };
  }

  async function tryReserve(bytes: number, files: number): Promise<Reservation | undefined> {
    const used = await usage();
    if (used.bytes + reserved.bytes + bytes > quotaBytes || used.files + reserved.files + files > mostFiles)
      return undefined;
    reserved = { bytes: reserved.bytes + bytes, files: reserved.files + files };
    const paths = new Set<string>();
    const names = new Set<string>();
    const release = () => {
      reserved = { bytes: reserved.bytes - bytes, files: reserved.files - files };
      for (const name of names) finished.delete(name);
    };
    return {
      temporaryPath() {
        const path = join(folder, `.incoming-${randomUUID()}`);
        paths.add(path);
        return path;
      },
      async finish(path) {
        const name = randomUUID();
        names.add(name);
        finished.add(name);
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
      makeDirectory(folder, 0o777);
      const unfinished = (await readdir(folder)).filter((name) => temporary.test(name));
      await Promise.all(unfinished.map((name) => rm(join(folder, name), { force: true })));
    },
    // One after the other, so that two calls do not reserve the same bytes.
    reserve(bytes, files) {
      const reservation = lastReservation.then(() => tryReserve(bytes, files));
      lastReservation = reservation.catch(() => {});
      return reservation;
    },
  };
}
