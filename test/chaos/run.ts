import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding, repeatsIn } from './checker.ts';
import { stopCleanly } from './closing.ts';
import { checkMetrics } from './counts.ts';
import { withFatal } from './fatal.ts';
import type { History } from './history.ts';
import { judge, uncovered } from './judge.ts';
import type { Met } from './met.ts';
import { failover, fatalMessage } from './misfortunes.ts';
import { handledBy } from './observe.ts';
import { plan, planOnly } from './plan.ts';
import { createRandom } from './random.ts';
import { isOurs, type Stage, setStage } from './stage.ts';
import type { Storage } from './storage.ts';
import { storeOfBlobs, storeOfFiles } from './store.ts';
import { connected, createWorkload, type Sender } from './workload.ts';

export interface Outcome {
  readonly seed: number;
  readonly findings: readonly Finding[];
  readonly messages: number;
  /** Handled more than once. */
  readonly repeated: number;
  readonly misfortunes: readonly string[];
  /** Those of them that met nothing: what they would have done has not been tried. */
  readonly untried: readonly string[];
  readonly tookMs: number;
}

export interface RunOptions {
  readonly seed: number;
  readonly directory: string;
  readonly hubDirectory: string;
  readonly serviceDirectory: string;
  readonly storage: Storage;
  /** Names of misfortunes that happen instead of those of the seed; then fewer devices are enough. */
  readonly only: readonly string[] | undefined;
  readonly onProgress: (what: string) => void;
}

const deviceCount = 100;
const instanceCount = 2;
/** One seed in four has one instance, whose store is a folder. */
const filesAt = 3;
const realDevices = 4;
const sendingMs = 6_000;
/** What shows without misfortunes shows with each device. */
const devicesFor = (only: RunOptions['only']) => deviceCount / (only === undefined ? 1 : only.length > 0 ? 2 : 4);
const lookEveryMs = 250;
/**
 * When so many looks in a row have seen nothing happen, nothing more will. On a machine that is busy with other things
 * looks take longer, too, and as long as something happens a run may take what it takes until its misfortunes are over.
 */
const patience = 100;
/** From then on the service may take several times as long as it does. What is not handled then is lost: it crawls. */
const longestMs = 240_000;

/** Sends messages, lets misfortunes happen, waits until all is quiet, stops the service and looks at what is there. */
export async function run(options: RunOptions): Promise<Outcome> {
  const { seed, directory, hubDirectory, serviceDirectory, storage, only, onProgress } = options;
  const began = performance.now();
  const random = createRandom(seed);
  const harmless = createWorkload(random, devicesFor(only));
  const areInFiles = only === undefined && seed % 4 === filesAt;
  const planned = (only ? planOnly(only, random, sendingMs) : plan(seed, random, sendingMs)).filter(
    ({ misfortune }) => !(areInFiles && misfortune.isOfAccount),
  );
  const fatal = planned.filter(({ misfortune }) => misfortune === fatalMessage).length;
  const senders = withFatal(harmless, fatal, createRandom(random.between(0, 2 ** 31)));
  const messages = senders.flatMap((sender) => sender.messages);
  const store = areInFiles
    ? storeOfFiles(join(directory, 'data'))
    : storeOfBlobs(storage, `seed-${seed}-${Date.now()}`);
  onProgress('starting');
  const stage = await setStage({
    ...{ directory, hubDirectory, serviceDirectory, instances: areInFiles ? 1 : instanceCount, realDevices },
    devices: senders.map(({ deviceId }) => deviceId),
    connected,
    environment: store.environment,
    looksUp: planned.some(({ misfortune }) => misfortune === failover),
    checkpointsOf: store.checkpoints,
    letters: store.letters,
    rotated: { storage: areInFiles ? undefined : storage },
  });
  const { name: endpoint } = stage.hub.endpoint();
  try {
    const strikes = planned.map(async ({ at, misfortune, random }) => {
      await sleep(at);
      return misfortune.happen(stage, random, storage);
    });
    const striking = Promise.all(strikes);
    striking.catch(() => undefined); // until it is awaited
    await sendAll(stage, senders, onProgress);
    const ours = messages.filter(isOurs);
    const isHandled = async () => {
      const handled = new Set((await handledBy(stage)).map(({ id }) => id)).size;
      onProgress(`${handled} of ${ours.length} messages handled`);
      return handled === ours.length;
    };
    const met: Met[] = [];
    void striking.then((all) => met.push(...all), stage.end);
    const haveMet = () => met.length > 0 && met.every((count) => count() > 0);
    await untilQuiet(stage, async () => stage.over.aborted || haveMet() || (await isHandled()));
    stage.end();
    await striking;
    const untried = planned.filter((_, index) => met[index]?.() === 0).map(({ misfortune: { name } }) => name);
    stage.hub.faults.clear();
    stage.backends.faults.clear();
    const until = performance.now() + longestMs;
    await untilQuiet(stage, async () => performance.now() > until || (await isHandled()));
    // An instance that has lost a partition reads it again from its checkpoint; a stop before that would leave it behind.
    onProgress('all handled');
    const positions = () => store.positions(endpoint);
    const isCovered = async () => uncovered(stage, await positions()).length === 0;
    const counts = await stopCleanly({
      stage,
      untilCovered: async () => {
        if (stage.interruptions.length > 0) await untilQuiet(stage, isCovered);
      },
      look: async () => (await Promise.all(stage.instances.filter(({ isUp }) => isUp()).map(checkMetrics))).flat(),
    });
    const { history, findings } = await judge({ stage, messages, first: endpoint, positions: await positions() });
    findings.push(...counts);
    await keep(history, findings, directory);
    return {
      ...{ seed, findings, messages: history.sent.length, repeated: repeatsIn(history.handled) },
      misfortunes: [
        areInFiles ? 'one instance, files' : 'two instances, blobs',
        ...planned.map(({ misfortune: { name } }) => name),
      ],
      untried,
      tookMs: performance.now() - began,
    };
  } finally {
    await stage.close();
  }
}

/** Each device its next few messages, round by round. */
async function sendAll(stage: Stage, senders: readonly Sender[], onProgress: RunOptions['onProgress']): Promise<void> {
  const all = senders.reduce((sum, { messages }) => sum + messages.length, 0);
  let sent = 0;
  await Promise.all(
    senders.map(async ({ messages, atOnce }) => {
      for (let at = 0; at < messages.length; at += atOnce) {
        for (const one of messages.slice(at, at + atOnce)) {
          await stage.send(one);
          sent += 1;
          onProgress(`${sent} of ${all} messages sent`);
        }
        await sleep((sendingMs * atOnce) / messages.length);
      }
    }),
  );
}

/** Until it is so, or nothing happens any more. */
export async function untilQuiet(stage: Stage, isSo: () => Promise<boolean>): Promise<void> {
  let seen = -1;
  for (let left = patience; left > 0 && !(await isSo()); left -= 1) {
    const happened = happeningsIn(stage);
    if (happened > seen || stage.isAway()) left = patience;
    seen = happened;
    await sleep(lookEveryMs);
  }
}

/**
 * Counts the calls for messages, the replies to them, and the ends that they cause: a message is repeated until its time has run
 * out, and no longer. And the probes that met a fault, which wear it off: several in a row keep all messages waiting (B5).
 */
const happeningsIn = ({ backends, replies, fatalEnds }: Stage): number =>
  backends
    .calls()
    .filter(({ headers, status }) => headers['x-correlation-id'] !== undefined || !(status && status < 400)).length +
  replies.length +
  fatalEnds.length;

async function keep(history: History, findings: readonly Finding[], directory: string): Promise<void> {
  const plain = (_: string, value: unknown) =>
    value instanceof Set ? [...value] : value instanceof Map ? Object.fromEntries(value) : value;
  await writeFile(join(directory, 'history.json'), JSON.stringify(history, plain, 1));
  await writeFile(join(directory, 'findings.json'), JSON.stringify(findings, undefined, 1));
}
