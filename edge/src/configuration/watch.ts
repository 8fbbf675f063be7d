import { type Configuration, ConfigurationError, readConfiguration } from './read.ts';
import { areSame, type Stamps, stampsNow } from './stamps.ts';

/** The file of the configuration, as it was read at the start. */
export interface ConfigurationFileRead {
  readonly path: string;
  readonly stamps: Stamps;
  /** Between two looks, in milliseconds. */
  readonly everyMs?: number;
}

interface WatchOptions extends ConfigurationFileRead {
  readonly onRead: (configuration: Configuration) => Promise<void>;
  /** The file has faults. */
  readonly onRefused: (problems: readonly string[]) => void;
}

interface ConfigurationWatch {
  /** One look at the files. */
  look(): Promise<void>;
  close(): void;
}

const usualMs = 2_000;

/**
 * Reads the configuration again when its file, or one that it names, has changed and was the same at two looks: a file
 * that is being written is left alone. It looks from time to time (D212).
 */
export function watchConfiguration(options: WatchOptions): ConfigurationWatch {
  const { path, everyMs = usualMs, onRead, onRefused } = options;
  let { stamps } = options;
  let changed: Stamps | undefined;
  let isClosed = false;
  let timer = setTimeout(lookAgain, everyMs);

  async function look(): Promise<void> {
    const now = await stampsNow(stamps);
    const isStill = areSame(now, changed);
    changed = areSame(now, stamps) ? undefined : now;
    if (!changed || !isStill || isClosed) return;
    changed = undefined;
    stamps = new Map();
    try {
      await onRead(await readConfiguration(path, stamps));
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      onRefused(error.problems);
    }
  }

  async function lookAgain() {
    await look();
    if (!isClosed) timer = setTimeout(lookAgain, everyMs);
  }

  return {
    look,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
