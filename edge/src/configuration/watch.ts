import { type FileWatch, type Stamps, watchFiles } from '@device-messaging/telemetry/files.ts';
import { type Configuration, ConfigurationError, readConfiguration } from './read.ts';

/** The file of the configuration, as it was read at the start. */
export interface ConfigurationFileRead {
  readonly path: string;
  readonly stamps: Stamps;
  /** Between two looks, in milliseconds. */
  readonly everyMs?: number;
  /** Told of each configuration before it takes effect: it may have other secrets. */
  readonly found?: (configuration: Configuration) => void;
}

interface WatchOptions extends ConfigurationFileRead {
  readonly onRead: (configuration: Configuration) => Promise<void>;
  /** The file has faults. */
  readonly onRefused: (problems: readonly string[]) => void;
}

const usualMs = 2_000;

/** Reads the configuration again when its file, or one that it names, has changed (D212). */
export const watchConfiguration = ({
  path,
  stamps,
  everyMs = usualMs,
  found,
  onRead,
  onRefused,
}: WatchOptions): FileWatch =>
  watchFiles({
    ...{ stamps, everyMs },
    async onChange() {
      const read: Stamps = new Map();
      try {
        const configuration = await readConfiguration(path, read);
        found?.(configuration);
        await onRead(configuration);
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        onRefused(error.problems);
      }
      return read;
    },
  });
