import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { buildService } from '../../sandbox/service/build.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { projectDirectory } from '../../sandbox/state/directories.ts';
import { appendEvent } from '../support/events.ts';
import { fatalAfter, withConstants } from '../support/processes.ts';
import { keepRunning, type Restarting } from '../support/restarting.ts';
import { percentile } from './figures.ts';
import { inSandbox } from './inSandbox.ts';

/**
 * What a message that ends the process costs its neighbours: `npm run bench -- killers`. The service runs as a process that is
 * started again whenever it ends.
 */

const usage = `Usage: npm run bench -- killers [options]

  --slow N     devices with one message each, for which each call of a backend
               takes 8 s (20)
  --fatal MS   one message ends the process, so many milliseconds after its
               first call (0)
  --every MS   each of the 40 quick devices sends one message each so many
               milliseconds, until all others are answered; by default it sends
               9, all at once
`;

const value = { type: 'string', default: '0' } as const;
const { values } = parseArgs({
  options: { slow: { ...value, default: '20' }, fatal: value, every: value, help: { type: 'boolean' } },
});
const slowDevices = Number(values.slow);
const fatalMs = Number(values.fatal);
const everyMs = Number(values.every);
const [quickDevices, messagesOfEach] = [40, 9];
/** After which it is a failure that messages are left. */
const longestSeconds = 900;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Puts the messages into the hub, those of slow devices and the fatal one first, and sees who is answered. */
function startLoad({ hub, backends }: Sandbox) {
  const slow = kind('slow');
  const fatal = kind('fatal');
  const quick = kind('quick');
  const kinds = [slow, fatal, quick];

  const end = hub.journal.watch((entry) => {
    if (entry.kind !== 'c2d') return;
    const id = entry.correlationId ?? '';
    kinds.find(({ left }) => left.has(id))?.answered(id);
  });

  function devices({ name }: { name: string }, count: number): string[] {
    const names = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    for (const device of names) {
      backends.world.principals.createDevice(device, 'acme');
      hub.registry.create(device);
      hub.devicebound.listen(device, (delivery) => delivery.complete());
    }
    return names;
  }

  const delay = (delayMs: number, deviceId: string) =>
    backends.faults.add({ backend: 'principalManager', delayMs, deviceId });

  const partitionOf = new Map<string, number>();
  function send(to: Kind, device: string, round: number) {
    const id = `${device}-${round}`;
    if (!partitionOf.has(device)) partitionOf.set(device, partitionOf.size % hub.partitions.length);
    to.sent(id);
    appendEvent(hub.partitions[partitionOf.get(device) ?? 0], { device, properties: propertiesOf(id), body });
  }

  for (const device of devices(slow, slowDevices)) {
    delay(8_000, device);
    send(slow, device, 0);
  }
  for (const device of devices(fatal, 1)) {
    if (fatalMs > 0) delay(3_600_000, device);
    send(fatal, device, 0);
  }
  const senders = devices(quick, quickDevices);
  let rounds = 0;
  function sendRound() {
    for (const device of senders) send(quick, device, rounds);
    rounds += 1;
  }

  const isOpen = () => everyMs > 0 && slow.left.size + fatal.left.size > 0;
  while (rounds < (everyMs > 0 ? 1 : messagesOfEach)) sendRound();
  const timer = setInterval(() => isOpen() && sendRound(), everyMs || 1_000);

  return {
    kinds: kinds.filter(({ left }) => left.size > 0),
    isDone: () => kinds.every(({ left }) => left.size === 0),
    close() {
      clearInterval(timer);
      end();
    },
  };
}

type Load = ReturnType<typeof startLoad>;

const body = Buffer.from(JSON.stringify({ publicKey: 'k'.repeat(200) }));

const propertiesOf = (correlationId: string) => ({
  ...{ msgType: 'action', action: 'identity.update', version: '2' },
  ...{ correlationId, ack: 'all', timeout: '300' },
});

function kind(name: string) {
  /** Correlation id → when it was sent (milliseconds), of those without an answer. */
  const left = new Map<string, number>();
  /** How long the others waited for their first answer (milliseconds), in the order of the answers. */
  const waits: number[] = [];
  return {
    ...{ name, left, waits },
    sent: (id: string) => void left.set(id, performance.now()),
    answered(id: string) {
      waits.push(performance.now() - (left.get(id) ?? 0));
      left.delete(id);
    },
  };
}

type Kind = ReturnType<typeof kind>;

if (values.help) say(usage);
else {
  await buildService();
  process.exitCode = (await inSandbox(projectDirectory, run)) ? 0 : 1;
}

async function run(sandbox: Sandbox, directory: string): Promise<boolean> {
  const preloads = [withConstants({ timing: { expirySeconds: 3 } }), fatalAfter(fatalMs)];
  const url = `http://127.0.0.1:${await freePort()}`;
  const logFile = join(directory, 'instance.log');
  const environment = {
    ...sandbox.state.service.environment,
    ...{ NODE_OPTIONS: preloads.map(({ NODE_OPTIONS }) => NODE_OPTIONS).join(' '), HTTP_PORT: new URL(url).port },
  };
  const load = startLoad(sandbox);
  const began = performance.now();
  const instance = keepRunning({ environment, readyzUrl: `${url}/readyz`, logFile });
  try {
    await watch(load, instance, began);
    say(aloneIn(await readFile(logFile, 'utf8')));
    return load.isDone();
  } finally {
    load.close();
    await instance.stop();
  }
}

async function watch(load: Load, { ends, startingMs }: Restarting, began: number): Promise<void> {
  const seconds = () => (performance.now() - began) / 1_000;
  const done = new Map<string, string>();
  let nextWord = 5;
  while (!load.isDone() && seconds() < longestSeconds) {
    await sleep(100);
    for (const { name, left } of load.kinds) {
      if (left.size === 0 && !done.has(name)) done.set(name, `${name} ${seconds().toFixed(1)} s`);
    }
    if (seconds() < nextWord) continue;
    nextWord += 5;
    const left = load.kinds.map(({ name, left }) => `${name} ${left.size}`);
    say(`${seconds().toFixed(0).padStart(4)} s  ${ends()} ends  left: ${left.join(', ')}`);
  }
  say(`answered: ${load.kinds.map(({ name }) => done.get(name) ?? `not all ${name}`).join(', ')}; ${ends()} ends`);
  for (const { name, waits } of load.kinds) {
    const ascending = [...waits].sort((one, other) => one - other);
    const at = (share: number) => `${(percentile(ascending, share) / 1_000).toFixed(1)} s`;
    say(`${name}: ${waits.length} waited p50 ${at(0.5)}, p99 ${at(0.99)}, at most ${at(1)}`);
  }
  say(`starts took ${(startingMs() / 1_000).toFixed(1)} s together`);
}

/** How many suspects ran alone, and how many groups there were, by the log. */
function aloneIn(log: string): string {
  const turns = log.split('\n').filter((line) => line.includes('"suspects begin"'));
  const alone = turns.filter((line) => line.includes('"alone":true')).length;
  return `turns of suspects: ${turns.length}, of them ${alone} alone`;
}
