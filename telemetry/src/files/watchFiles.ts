import { areSame, type Stamps, stampsNow } from './stamps.ts';

/** Looks at files from time to time. */
export interface FileWatch {
  /** One look at the files. */
  look(): Promise<void>;
  close(): void;
}

interface WatchOptions {
  /** The files, as they were when they were read. */
  readonly stamps: Stamps;
  /** Between two looks, in milliseconds. */
  readonly everyMs: number;
  /** Reads what has changed. Returns the files to look at from now on, as they were before they were read. */
  readonly onChange: () => Promise<Stamps>;
}

/**
 * Tells of files that have changed and were the same at two looks: a file that is being written is left alone. It looks,
 * because notifications of the file system do not come from every volume (D212, D396).
 */
export function watchFiles({ stamps: first, everyMs, onChange }: WatchOptions): FileWatch {
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
    look,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
