import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HubRules } from 'iot-hub-emulator';
import type { Device } from '../../sandbox/device/device.ts';
import { type Azurite, startAzurite } from '../../sandbox/methods/azurite.ts';
import { putExampleFiles } from '../../sandbox/methods/fileStorage.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { createInstance, type Instance } from '../../test/chaos/instance.ts';
import { createScraper, type Scrapes } from './series.ts';

/** A hub, backends, a storage account and the program that is watched. */
export interface Stage {
  readonly sandbox: Sandbox;
  readonly azurite: Azurite;
  /** The service; it runs unless the episode is one of the front door. */
  readonly instance: Instance;
  readonly others: readonly Instance[];
  readonly ended: AbortSignal;
}

/** Runs an episode: scrapes of a good time, then of the trouble; of each instance. */
export async function recordEpisode(episode: Episode, directory: string): Promise<readonly Scrapes[]> {
  const azurite = await startAzurite();
  let sandbox: Sandbox | undefined;
  const instances: Instance[] = [];
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
    const environment = {
      ...service.environment,
      ...(episode.store === 'blob' && { STORE: 'blob', STORE_CONNECTION_STRING: azurite.connectionString }),
      ...episode.environment,
    };
    const urls: string[] = [];
    for (let number = 0; number < (episode.instances ?? 1); number += 1) {
      const [port, adminPort] = [await freePort(), await freePort()];
      const own = number === 0 ? {} : { HTTP_PORT: String(port), ADMIN_PORT: String(adminPort) };
      const url = number === 0 ? service.readyzUrl.replace('/readyz', '') : `http://127.0.0.1:${port}`;
      const folder = join(directory, `instance-${number}`);
      await mkdir(folder);
      instances.push(
        createInstance({
          ...{ directory: folder, serviceDirectory: process.cwd(), url },
          ...{ environment: { ...environment, ...own }, onFatalEnd() {} },
        }),
      );
      urls.push(`${url}/metrics`);
    }
    const [instance, ...others] = instances as [Instance, ...Instance[]];
    const stage: Stage = { sandbox, azurite, instance, others, ended: ended.signal };
    await episode.before?.(stage);
    if (!ofFrontDoor) for (const one of instances) await one.start();
    if (ofFrontDoor) urls[0] = methods?.readyzUrl.replace('/readyz', '/metrics') ?? '';
    const work = [
      episode.meanwhile?.(stage),
      ...(ofFrontDoor ? [] : Array.from({ length: episode.devices ?? 2 }, (_, index) => send(stage, index))),
    ];
    const { scrapes, scrape } = createScraper(urls);
    await episode.begun?.(stage);
    await sleep(2_000); // devices have begun
    await scrape(goodScrapes, episode.everyMs);
    const trouble = episode.trouble?.(stage);
    await scrape(episode.scrapes ?? 24, episode.everyMs);
    ended.abort();
    await trouble;
    await Promise.all(work);
    return scrapes;
  } finally {
    ended.abort();
    for (const instance of instances) await instance.end();
    await sandbox?.close();
    await azurite.close();
  }
}

const send = ({ sandbox, ended }: Stage, index: number) =>
  sendSteadily(sandbox, `pump-${index + 11}`, index, ended).catch((error) => {
    if (!ended.aborted) console.log(`a device has ended: ${error}`);
  });

const intervalMs = 250;
const bootMs = 60_000;

const bodyOf = (body: object) => Buffer.from(JSON.stringify(body));

/**
 * A device that creates an object model and then updates it, or its own key, until the signal. Each tenth message is one
 * that the service refuses.
 * @param index of the device: those with an even one use the information model, the others the principal manager
 */
async function sendSteadily(sandbox: Sandbox, id: string, index: number, signal: AbortSignal): Promise<void> {
  const device = await sandbox.connect(id);
  const pump = { type: 'pump', properties: { serial: id, location: 'hall 1' } };
  await device.send(envelope('model.create', 'boot'), bodyOf({ ...pump, model: 'svc.device', name: id }));
  const objectId = await objectIdFrom(device);
  const reading = readAll(device, signal);
  await sleep(index * 30);
  for (let turn = 1; !signal.aborted; turn += 1) {
    if (turn % 10 === 0) {
      await device.send(envelope('model.update', `wrong-${turn}`), bodyOf({ version: 1 })); // no object id
    } else if (index % 2 === 0) {
      const version = turn - Math.floor(turn / 10);
      await device.send({ ...envelope('model.update', `update-${turn}`), objectId }, bodyOf({ ...pump, version }));
    } else {
      await device.send(envelope('identity.update', `key-${turn}`), bodyOf({ publicKey: `key-${turn}` }));
    }
    await sleep(intervalMs, undefined, { signal }).catch(() => {});
  }
  await reading;
  await device.close();
}

async function objectIdFrom(device: Device): Promise<string> {
  for (;;) {
    const reply = await device.next(bootMs);
    if (reply === undefined) throw new Error(`${device.id} got no answer to its first message`);
    if (reply.properties['msgType'] === 'ack') return JSON.parse(reply.body.toString()).objectId;
  }
}

async function readAll(device: Device, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await device.next(500);
}

export const goodScrapes = 12;

/** A good time, and a trouble that one or more alerts are for. */
export interface Episode {
  /** The alerts that have to fire before it is over; none of them does in the good time. */
  readonly fires: readonly string[];
  /** Metrics that are asked for besides those of its alerts. */
  readonly asks?: readonly string[];
  readonly job?: 'device-messaging' | 'device-messaging-methods';
  readonly store?: 'file' | 'blob';
  readonly environment?: Readonly<Record<string, string>>;
  readonly hubRules?: HubRules;
  /** How many scrapes the trouble lasts; default 24. */
  readonly scrapes?: number;
  /** Real time between two scrapes; default 250. */
  readonly everyMs?: number;
  readonly instances?: number;
  readonly devices?: number;
  before?(stage: Stage): Promise<void> | void;
  /** Resolves when all is as it should be before the trouble. */
  begun?(stage: Stage): Promise<void>;
  /** From the start to the end. */
  meanwhile?(stage: Stage): Promise<void>;
  trouble?(stage: Stage): Promise<void> | void;
}
