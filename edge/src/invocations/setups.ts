import { isDeepStrictEqual } from 'node:util';
import type { Configuration } from '../configuration/read.ts';
import { createFileInputs, type Folders } from '../files/fileInputs.ts';
import { createReplyTopics, createRouter } from '../modules/routing.ts';
import { identityOf, type Log } from '../observing/log.ts';
import type { Meter } from '../observing/metrics.ts';
import type { Setup } from './proxy.ts';

interface SetupsOptions {
  readonly configuration: Configuration;
  readonly log: Log;
  readonly meter: Meter;
  /** Subscribes to the topics of replies as they are now. */
  readonly resubscribe: () => Promise<void>;
  /** The next connection has other credentials, or another address. */
  readonly reconnect: (peer: (typeof peers)[number]) => void;
}

/** Settings of the process itself. */
const atStartOnly = ['network', 'health', 'log'] as const;
const peers = ['hub', 'broker'] as const;
const mostProblems = 10;
/** A broker that does not answer holds up no change. */
const subscribeMs = 10_000;

/** The configuration in effect, which another one can replace while invocations are in progress (M10, D212). */
export function createSetups({ configuration: first, log, meter, resubscribe, reconnect }: SetupsOptions) {
  const folders: Folders = new Map();
  const setupOf = (configuration: Configuration) => ({
    configuration,
    route: createRouter(configuration.modules),
    fileInputs: createFileInputs(configuration, meter, folders),
  });
  let current = setupOf(first);
  let problems: readonly string[] = [];
  const topics = createReplyTopics(first.modules, () => void resubscribe());
  meter.observe('device_messaging.edge.configuration.refused', () => [[problems.length > 0 ? 1 : 0]]);

  async function prepare({ fileInputs }: Setup) {
    for (const { moduleId, cause } of await fileInputs.prepare()) {
      log.error(
        { module: moduleId, cause },
        'the folder of a module cannot be used: its methods with files cannot be invoked',
      );
    }
  }

  return {
    topics,
    current: () => current,
    /** Makes the folders of the modules usable; logs those that are not. */
    prepareFolders: () => prepare(current),

    /** Puts a configuration into effect. Never rejects. */
    async take(read: Configuration) {
      const isSameIdentity = identityOf(read) === identityOf(first);
      const before = current.configuration;
      const configuration = isSameIdentity ? read : { ...read, hub: before.hub };
      const next = setupOf(configuration);
      await prepare(next);
      // Subscribed before the first request, so that no module is without its replies.
      const release = topics.hold(configuration.modules);
      await Promise.race([resubscribe(), new Promise((resolve) => setTimeout(resolve, subscribeMs).unref())]);
      current = next;
      problems = [];
      topics.use(configuration.modules);
      release();
      log.info({ modules: configuration.modules.length }, 'the configuration was read again and is in effect');
      for (const peer of peers) if (!isDeepStrictEqual(configuration[peer], before[peer])) reconnect(peer);
      const settings: string[] = atStartOnly.filter((name) => !isDeepStrictEqual(configuration[name], first[name]));
      if (!isSameIdentity) settings.push('hub');
      if (settings.length > 0) log.warn({ settings }, 'changed settings take effect at the next start only');
    },

    /** Keeps the one in effect, because the file has faults. */
    refuse(found: readonly string[]) {
      problems = found.slice(0, mostProblems);
      log.error({ problems }, 'the changed configuration is refused, and the last good one stays in effect');
    },

    /** For `/readyz`. */
    remarks: () => (problems.length > 0 ? { refusedConfiguration: problems } : {}),
  };
}
