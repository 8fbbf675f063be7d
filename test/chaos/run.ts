import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { check, type Finding, repeatsIn } from './checker.ts';
import type { History } from './history.ts';
import { handledBy, recordOutcome } from './observe.ts';
import { plan } from './plan.ts';
import { createRandom } from './random.ts';
import { type Stage, setStage } from './stage.ts';
import type { Storage } from './storage.ts';
import { connected, createWorkload, type Message, type Sender } from './workload.ts';

/** What came of one seed. */
export interface Outcome {
  readonly seed: number;
  readonly findings: readonly Finding[];
  readonly messages: number;
  /** Handled more than once. */
  readonly repeated: number;
  readonly misfortunes: readonly string[];
  readonly tookMs: number;
}

export interface RunOptions {
  readonly seed: number;
  /** Logs and the history go here. */
  readonly directory: string;
  readonly hubDirectory: string;
  readonly serviceDirectory: string;
  readonly storage: Storage;
  /** Told again and again how far it has come. */
  readonly onProgress: (what: string) => void;
}

const deviceCount = 100;
const instanceCount = 2;
const realDevices = 4;
const sendingMs = 6_000;
/** When nothing has been handled for so long, nothing more will be. */
const patienceMs = 20_000;
/** On a machine that is busy with other things; it takes less than half a minute otherwise. */
const longestMs = 240_000;

/** Sends messages, lets misfortunes happen, waits until all is quiet, stops the service and looks at what is there. */
export async function run(options: RunOptions): Promise<Outcome> {
  const { seed, directory, hubDirectory, serviceDirectory, storage, onProgress } = options;
  const began = performance.now();
  const random = createRandom(seed);
  const senders = createWorkload(random, deviceCount);
  const messages = senders.flatMap((sender) => sender.messages);
  const planned = plan(seed, random, sendingMs);
  const container = `seed-${seed}-${Date.now()}`;
  onProgress('starting');
  const stage = await setStage({
    directory,
    hubDirectory,
    serviceDirectory,
    instances: instanceCount,
    realDevices,
    devices: senders.map(({ deviceId }) => deviceId),
    connected,
    environment: {
      CHECKPOINTS_STORE: 'blob',
      CHECKPOINTS_CONNECTION_STRING: storage.connectionString,
      CHECKPOINTS_CONTAINER: container,
    },
  });
  try {
    const strikes = planned.map(async ({ at, misfortune, random }) => {
      await sleep(at);
      await misfortune.happen(stage, random, storage);
    });
    await Promise.all([sendAll(stage, senders, onProgress), ...strikes]);
    stage.hub.faults.clear();
    stage.backends.faults.clear();
    const latest = began + longestMs;
    await untilHandled(stage, messages, latest, onProgress);
    // An instance that has lost a partition reads it again from its checkpoint; a stop before that would leave it behind.
    onProgress('all handled');
    if (stage.interruptions.length > 0) await untilCovered(stage, storage, container, latest);
    await Promise.all(stage.instances.map((instance) => instance.stop()));
    const codes = [...stage.instances, stage.guest].flatMap((instance) => instance.codes);

    const history = await recordOutcome(stage, messages, connected);
    const findings = [...check(history), ...unclean(codes), ...uncovered(stage, await storage.positions(container))];
    await keep(history, findings, directory);
    return {
      seed,
      findings,
      messages: history.sent.length,
      repeated: repeatsIn(history.handled),
      misfortunes: planned.map(({ misfortune: { name } }) => name),
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

/** Until every message has been handled, or nothing happens any more. */
async function untilHandled(
  stage: Stage,
  sent: readonly Message[],
  latest: number,
  onProgress: RunOptions['onProgress'],
): Promise<void> {
  const ours = sent.filter(({ intent }) => intent.does !== 'nothing' || intent.code !== undefined);
  let last = { handled: 0, at: performance.now() };
  for (;;) {
    const handled = new Set((await handledBy(stage)).map(({ id }) => id)).size;
    onProgress(`${handled} of ${ours.length} messages handled`);
    const now = performance.now();
    if (handled === ours.length || now > latest) return;
    if (handled > last.handled) last = { handled, at: now };
    else if (now - last.at > patienceMs) return;
    await sleep(250);
  }
}

async function untilCovered(stage: Stage, storage: Storage, container: string, latest: number): Promise<void> {
  const until = Math.min(latest, performance.now() + patienceMs);
  while (performance.now() < until && uncovered(stage, await storage.positions(container)).length > 0) await sleep(250);
}

/** A drain that ends in anything but 0 has failed (G3). */
const unclean = (codes: readonly (number | null)[]): Finding[] =>
  codes.flatMap((code): Finding[] =>
    code === 0 ? [] : [{ what: 'state', id: '', why: `a clean stop ended with exit code ${code}` }],
  );

/** After a clean stop nothing is left that somebody would have to do again (G3). */
const uncovered = ({ hub }: Stage, positions: ReadonlyMap<string, number>): Finding[] =>
  hub.partitions.flatMap((partition): Finding[] => {
    const [last, covered] = [partition.last()?.sequenceNumber, positions.get(String(partition.id))];
    const why = `partition ${partition.id} is covered up to ${covered} of ${last} after a clean stop`;
    return covered === last ? [] : [{ what: 'state', id: '', why }];
  });

async function keep(history: History, findings: readonly Finding[], directory: string): Promise<void> {
  const plain = (_: string, value: unknown) =>
    value instanceof Set ? [...value] : value instanceof Map ? Object.fromEntries(value) : value;
  await writeFile(join(directory, 'history.json'), JSON.stringify(history, plain, 1));
  await writeFile(join(directory, 'findings.json'), JSON.stringify(findings, undefined, 1));
}
