import { stat } from 'node:fs/promises';

/** By path, what was known of the file just before it was read. */
export type Stamps = Map<string, string>;

/** Changes with each change of the file, also when a link to it, or above it, leads to another file. */
export async function stampOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

export async function stampsNow(paths: Iterable<string>): Promise<Stamps> {
  return new Map(await Promise.all(Array.from(paths, async (path) => [path, await stampOf(path)] as const)));
}

export const areSame = (some: Stamps, others: Stamps | undefined): boolean =>
  some.size === others?.size && [...some].every(([path, stamp]) => others.get(path) === stamp);

export type FileWatch = ReturnType<typeof watchFiles>;

/**
 * Tells of files that have changed and were the same at two looks: a file that is being written is left alone. It looks,
 * because notifications of the file system do not come from every volume (D212, D396).
 * @param first the files, as they were when they were read
 * @param onChange reads what has changed; returns the files to look at from now on, as they were before they were read
 */
export function watchFiles(first: Stamps, everyMs: number, onChange: () => Promise<Stamps>) {
  let stamps = first;
  let changed: Stamps | undefined;
  let isClosed = false;
  let timer = setTimeout(lookAgain, everyMs).unref();

  async function look(): Promise<void> {
    const now = await stampsNow(stamps.keys());
    const isStill = areSame(now, changed);
    changed = areSame(now, stamps) ? undefined : now;
    if (!changed || !isStill || isClosed) return;
    changed = undefined;
    stamps = await onChange();
  }

  async function lookAgain() {
    await look();
    if (!isClosed) timer = setTimeout(lookAgain, everyMs).unref();
  }

  return {
    /** One look at the files. */
    look,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
