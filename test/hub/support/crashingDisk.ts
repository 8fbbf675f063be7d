import { existsSync, truncateSync } from 'node:fs';
import type * as Files from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { ProcessLife } from '../../support/processLife.ts';

let life: ProcessLife | undefined;
/** A process that dies leaves its files open; the system closes them. */
const open = new Set<FileHandle>();

/** What has been written, and is not on the disk yet: it is lost with the machine, whatever its name is by then. */
const unsynced = new Set<string>();

/** Everything that is done to files until `what` has ended, or the process has died, is an await point of its. */
export async function onCrashingDisk(process: ProcessLife, what: () => Promise<unknown>): Promise<void> {
  life = process;
  unsynced.clear();
  await Promise.race([what(), process.death]);
  life = undefined;
  await Promise.all([...open].map((file) => file.close()));
  open.clear();
  for (const path of unsynced) if (existsSync(path)) truncateSync(path);
}

/** In the place of `node:fs/promises`: a text is written in two halves, so that the process may die between them. */
export function crashingFiles(real: typeof Files) {
  const step = <T>(something: () => Promise<T>) => (life ? life.step(something) : something());

  async function writeHalves(file: FileHandle, text: string) {
    const half = Math.floor(text.length / 2);
    await step(() => file.write(text.slice(0, half)));
    await step(() => file.write(text.slice(half)));
  }

  async function openFile(path: string, flags: string, mode: number) {
    const file = await step(async () => {
      const opened = await real.open(path, flags, mode);
      open.add(opened);
      return opened;
    });
    return {
      writeFile(text: string) {
        unsynced.add(path);
        return writeHalves(file, text);
      },
      sync: () =>
        step(async () => {
          await file.sync();
          unsynced.delete(path);
        }),
      close: () =>
        step(() => {
          open.delete(file);
          return file.close();
        }),
    };
  }

  return {
    ...real,
    mkdir: (path: string, options: object) => step(() => real.mkdir(path, options)),
    rename: (from: string, to: string) =>
      step(async () => {
        await real.rename(from, to);
        unsynced.delete(to);
        if (unsynced.delete(from)) unsynced.add(to);
      }),
    open: openFile,
    async writeFile(path: string, text: string, { mode, flush }: { mode: number; flush?: boolean }) {
      const file = await openFile(path, 'w', mode);
      await file.writeFile(text);
      if (flush) await file.sync();
      await file.close();
    },
  };
}
