import { readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { execFile } from '../../../sandbox/service/endWithUs.ts';
import { judge } from '../judge.ts';
import { linesOf } from '../observe.ts';
import { createRandom } from '../random.ts';
import { untilQuiet } from '../run.ts';
import { isOurs, type Stage, setStage } from '../stage.ts';
import { type DeadLetter, openStorage } from '../storage.ts';
import { type Store, storeOfBlobs, storeOfFiles } from '../store.ts';
import { connected, createWorkload, type Sender } from '../workload.ts';
import type { Scenario, ScenarioOptions } from './scenario.ts';

const run = promisify(execFile);

/** The service starts with 64 MB free. */
const volumeMebibytes = 96;
const deviceCount = 25;
/** Longer than it takes until a checkpoint is due, and until a stop gives up writing one. */
const troubledMs = 6_000;

/** A volume that can be put into trouble, and out of it. */
interface Volume {
  readonly path: string;
  readonly troubles: readonly (Trouble & { begin(): Promise<() => Promise<void>> })[];
  unmount(): Promise<void>;
}

interface Trouble {
  readonly name: string;
  /** What the service is told, or has said, of it. */
  readonly said: RegExp;
  readonly meanwhile: 'kill' | 'stop' | 'nothing';
}

export const disk: Scenario = {
  name: 'disk',
  about: 'the volume of the data is full, read-only, and without its folder, with files and with blobs',
  async run(options) {
    const volume = await mountVolume(join(options.directory, 'volume')).catch((error: Error) => error);
    if (volume instanceof Error)
      return [`this machine does not let disk mount a tmpfs, which needs root: ${volume.message}`];
    const storage = await openStorage();
    try {
      const ofFiles = await play('files', volume, storeOfFiles(join(volume.path, 'files')), {}, options);
      const inBlobs = {
        DATA_DIRECTORY: join(volume.path, 'blobs'),
        STORE_CONNECTION_STRING: storage.connectionString(),
      };
      const ofBlobs = await play('blobs', volume, storeOfBlobs(storage, 'disk'), inBlobs, options);
      return [...ofFiles, ...ofBlobs];
    } finally {
      await storage.close();
      await volume.unmount();
    }
  },
};

/** Devices send in each trouble; in the end, all is as it would be without it. */
async function play(
  name: 'files' | 'blobs',
  volume: Volume,
  store: Store,
  more: Readonly<Record<string, string>>,
  { directory, serviceDirectory, seed, say }: ScenarioOptions,
): Promise<string[]> {
  const random = createRandom(seed);
  // What is refused because its target is not there yet would be carried out when it is repeated behind the creation of that.
  const senders = createWorkload(random, deviceCount).map((sender) => ({
    ...sender,
    messages: sender.messages.filter(({ intent }) => intent.does !== 'refer'),
  }));
  const messages = senders.flatMap((sender) => sender.messages);
  const deleted: DeadLetter[] = [];
  const letters = async () => [...deleted, ...(await store.letters())];
  const stage = await setStage({
    ...{ directory: join(directory, name), hubDirectory: join(directory, 'hub'), serviceDirectory },
    ...{ instances: 1, realDevices: 0, connected, letters, environment: { ...store.environment, ...more } },
    devices: senders.map(({ deviceId }) => deviceId),
  });
  try {
    const { name: endpoint } = stage.hub.endpoint();
    const isCovered = async () => {
      const positions = await store.positions(endpoint);
      return stage.hub.partitions.every(({ id, last }) => positions.get(String(id)) === last()?.sequenceNumber);
    };
    const findings: string[] = [];
    const shares = volume.troubles.length;
    for (const [index, trouble] of volume.troubles.entries()) {
      if (trouble.name === 'deleted') deleted.push(...(await store.letters()));
      const share = senders.map((sender) => ({
        ...sender,
        messages: sender.messages.filter((_, nth, all) => Math.floor((nth * shares) / all.length) === index),
      }));
      const updating = share.filter(({ messages }) => messages.some(({ intent }) => intent.does === 'replace'));
      const said = await sendInTrouble(stage, share, trouble, random.pick(updating).deviceId);
      await untilQuiet(stage, isCovered);
      say(`${name}, ${trouble.name}: ${said.length === 0 ? 'nothing was said' : said.join('; ')}`);
      const isTold = said.some((one) => trouble.said.test(one));
      if (name === 'files' && !isTold) findings.push(`files, ${trouble.name}: no line says what is wrong`);
      if (name === 'blobs' && said.length > 0) findings.push(`blobs, ${trouble.name}: the volume matters: ${said[0]}`);
    }
    for (const instance of stage.instances) await instance.stop();
    const judged = await judge({ stage, messages, first: endpoint, positions: await store.positions(endpoint) });
    const { handled, parked } = judged.history;
    say(`${name}: ${messages.filter(isOurs).length} messages, ${handled.length} handled, ${parked.size} parked`);
    return [...findings, ...judged.findings.map(({ what, id, why }) => `${name}: ${what}: ${id} ${why}`)];
  } finally {
    await stage.close();
  }
}

/**
 * One device’s updates fail meanwhile: were an object not created, what is refused for that would be carried out when it is
 * repeated behind a later creation. @returns what the log says of the volume, each once
 */
async function sendInTrouble(
  stage: Stage,
  senders: readonly Sender[],
  trouble: Volume['troubles'][number],
  failing: string,
): Promise<string[]> {
  const [instance] = stage.instances;
  if (instance === undefined) throw new Error('there is no instance');
  const before = (await linesOf(stage)).length;
  const from = Date.now();
  const end = await trouble.begin();
  try {
    const times = 3;
    stage.backends.faults.add({ backend: 'informationModel', deviceId: failing, method: 'PUT', garbage: true, times });
    await Promise.all(
      senders.map(async ({ messages }) => {
        for (const message of messages) await stage.send(message);
      }),
    );
    await sleep(troubledMs);
    if (trouble.meanwhile === 'kill') {
      stage.interruptions.push({ at: Date.now(), of: instance });
      await instance.kill();
    }
    if (trouble.meanwhile === 'stop') await instance.stop();
  } finally {
    await end();
  }
  stage.storeTroubles.push({ from, to: Date.now() });
  if (!instance.isUp()) await instance.start();
  return [...new Set((await linesOf(stage)).slice(before).flatMap(saidOfStore))];
}

const saidOfStore = ({ storeSaid, event, todo }: Record<string, unknown>): string[] =>
  typeof storeSaid === 'string' ? [`${event}: ${storeSaid.replaceAll(/'[^']*'/g, '…')}, ${todo}`] : [];

async function mountVolume(path: string): Promise<Volume> {
  await mkdir(path);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${volumeMebibytes}m,mode=0700`, 'tmpfs', path]);
  const filler = join(path, 'filler');

  async function fill() {
    const block = Buffer.alloc(2 ** 20);
    try {
      for (;;) await writeFile(filler, block, { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
    return () => rm(filler);
  }

  /** Refused while a file is open for writing. */
  async function remount(how: 'ro' | 'rw'): Promise<void> {
    for (let left = 100; ; left -= 1) {
      const error = await run('mount', ['-o', `remount,${how}`, path]).then(
        () => undefined,
        (failure: Error) => failure,
      );
      if (error === undefined) return;
      if (left === 0) throw error;
      await sleep(20);
    }
  }

  return {
    path,
    troubles: [
      { name: 'full', said: /ENOSPC.* the disk is full/, meanwhile: 'kill', begin: fill },
      {
        ...{ name: 'read-only', said: /EROFS/, meanwhile: 'stop' },
        async begin() {
          await remount('ro');
          return () => remount('rw');
        },
      },
      {
        ...{ name: 'deleted', said: /ENOENT.* the folder has gone/, meanwhile: 'nothing' },
        async begin() {
          for (const name of readdirSync(path)) await rm(join(path, name), { recursive: true, force: true });
          return async () => {};
        },
      },
    ],
    async unmount() {
      await run('umount', ['-l', path]);
    },
  };
}
