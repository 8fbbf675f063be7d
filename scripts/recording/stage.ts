import { setTimeout as sleep } from 'node:timers/promises';
import { type Azurite, startAzurite } from '../../sandbox/methods/azurite.ts';
import { putExampleFiles } from '../../sandbox/methods/fileStorage.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { createInstance, type Instance } from '../../test/chaos/instance.ts';
import { sendSteadily } from './devices.ts';
import { type Episode, goodScrapes } from './episode.ts';
import { createScraper } from './scraper.ts';
import type { Scrapes } from './series.ts';

/** A hub, backends, a storage account and the program that is watched. */
export interface Stage {
  readonly sandbox: Sandbox;
  readonly azurite: Azurite;
  /** The service; it runs unless the episode is one of the front door. */
  readonly instance: Instance;
  /** Aborts when the recording is over. */
  readonly ended: AbortSignal;
}

/** Runs an episode: scrapes of a good time, then of the trouble. */
export async function recordEpisode(episode: Episode, directory: string): Promise<Scrapes> {
  const azurite = await startAzurite();
  let sandbox: Sandbox | undefined;
  let instance: Instance | undefined;
  const ended = new AbortController();
  try {
    await putExampleFiles(azurite.connectionString);
    const ofFrontDoor = episode.job === 'device-messaging-methods';
    sandbox = await startSandbox({
      ...{ directory, service: false, ...(episode.hubRules && { hubRules: episode.hubRules }) },
      ...(ofFrontDoor && {
        methods: 'running',
        methodsEnvironment: { METHODS_FILES_CONNECTION_STRING: azurite.connectionString },
      }),
    });
    const { service, methods } = sandbox.state;
    instance = createInstance({
      ...{ directory, serviceDirectory: process.cwd(), url: service.readyzUrl.replace('/readyz', '') },
      environment: {
        ...service.environment,
        ...(episode.store === 'blob' && { STORE: 'blob', STORE_CONNECTION_STRING: azurite.connectionString }),
        ...episode.environment,
      },
      onFatalEnd() {},
    });
    const stage: Stage = { sandbox, azurite, instance, ended: ended.signal };
    await episode.before?.(stage);
    if (!ofFrontDoor) await instance.start();
    const url = (ofFrontDoor ? methods?.readyzUrl : service.readyzUrl)?.replace('/readyz', '/metrics') ?? '';
    const work = [
      episode.meanwhile?.(stage),
      ...(ofFrontDoor ? [] : Array.from({ length: episode.devices ?? 2 }, (_, index) => send(stage, index))),
    ];
    const { scrapes, scrape } = createScraper(url);
    await sleep(2_000); // devices have begun
    await scrape(goodScrapes);
    const trouble = episode.trouble?.(stage);
    await scrape(episode.scrapes ?? 24);
    ended.abort();
    await trouble;
    await Promise.all(work);
    return scrapes;
  } finally {
    ended.abort();
    await instance?.end();
    await sandbox?.close();
    await azurite.close();
  }
}

const send = ({ sandbox, ended }: Stage, index: number) =>
  sendSteadily(sandbox, `pump-${index + 11}`, index, ended).catch((error) => {
    if (!ended.aborted) console.log(`a device has ended: ${error}`);
  });
