import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { appendEvent } from '../support/events.ts';
import { fatalAfter, withConstants } from '../support/processes.ts';
import { keepRunning, type Restarting } from '../support/restarting.ts';
import { percentile } from './figures.ts';
import { inSandbox, valuesOrHelp } from './inSandbox.ts';

/** Puts the messages into the hub, those of slow devices and the fatal one first, and sees who is answered. */
function startLoad({ hub, backends }: Sandbox) {
  const slow = kind('slow');
  const fatal = kind('fatal');
  const quick = kind('quick');
  const kinds = [slow, fatal, quick];
  const everyMs = Number(values.every);
  let sent = 0;

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

  const delay = (delayMs: number, deviceId?: string) =>
    backends.faults.add({ backend: 'principalManager', delayMs, ...(deviceId !== undefined && { deviceId }) });

  const partitionOf = new Map<string, number>();
  function send(to: Kind, device: string, round: number) {
    const id = `${device}-${round}`;
    if (!partitionOf.has(device)) partitionOf.set(device, partitionOf.size % hub.partitions.length);
    to.sent(id);
    sent += 1;
    appendEvent(hub.partitions[partitionOf.get(device) ?? 0], { device, properties: propertiesOf(id), body });
  }

  for (const device of devices(slow, Number(values.slow))) {
    delay(8_000, device);
    send(slow, device, 0);
  }
  for (const device of devices(fatal, hasFatal ? 1 : 0)) {
    if (Number(values.fatal) > 0) delay(3_600_000, device);
    send(fatal, device, 0);
  }
  if (Number(values['call-ms']) > 0) delay(Number(values['call-ms']));
  const quickDevices = devices(quick, Number(values.quick));
  let rounds = 0;
  function sendRound() {
    for (const device of quickDevices) send(quick, device, rounds);
    rounds += 1;
  }

  const isOpen = () => everyMs > 0 && slow.left.size + fatal.left.size > 0;
  while (rounds < (everyMs > 0 ? 1 : Number(values.messages))) sendRound();
  const timer = setInterval(() => isOpen() && sendRound(), everyMs || 1_000);

  return {
    kinds: kinds.filter(({ left }) => left.size > 0),
    sent: () => sent,
    answered: () => kinds.reduce((sum, { waits }) => sum + waits.length, 0),
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

/**
 * What a message that ends the process costs its neighbours, and what kills from outside cost: `npm run bench -- killers`. The
 * service runs as processes that are started again whenever they end.
 */

const usage = `Usage: npm run bench -- killers [options]

  --slow N        devices with one message each, for which each call of a backend takes 8 s (20)
  --quick N       devices with quick messages (40)
  --messages N    of each quick device, all at once (9)
  --every MS      instead, each quick device sends one message each so many milliseconds, until all others are answered
  --call-ms N     each call for a quick device takes so many milliseconds (0)
  --fatal MS      one message more ends the process, so many milliseconds after its first call; none: nobody does (0)
  --kills N       from outside, evenly spread: each time when a further share of the messages is answered (0)
  --store KIND    file or blob (file)
  --instances N   more than one need the blob store (1)
  --seconds N     after which it is a failure that messages are left (900)
`;

const values = valuesOrHelp(
  {
    ...{ slow: '20', quick: '40', messages: '9', every: '0', 'call-ms': '0', fatal: '0', kills: '0' },
    ...{ store: 'file', instances: '1', seconds: '900' },
  },
  usage,
);
const say = (line: string) => process.stdout.write(`${line}\n`);
const hasFatal = values.fatal !== 'none';

process.exitCode = (await inSandbox(run)) ? 0 : 1;

async function run(sandbox: Sandbox, directory: string): Promise<boolean> {
  const azurite = values.store === 'blob' ? await startAzurite() : undefined;
  const given = sandbox.state.service.environment;
  const preloads = [
    withConstants({ timing: { expirySeconds: 3 } }),
    ...(hasFatal ? [fatalAfter(Number(values.fatal))] : []),
  ];
  const environment = {
    ...given,
    ...(azurite && { STORE: 'blob', STORE_CONNECTION_STRING: azurite.connectionString }),
    NODE_OPTIONS: preloads.map(({ NODE_OPTIONS }) => NODE_OPTIONS).join(' '),
  };
  const numbers = Array.from({ length: Number(values.instances) }, (_, number) => number);
  const logFileOf = (number: number) => join(directory, `instance-${number}.log`);
  let instances: Restarting[] = [];
  let load: Load | undefined;
  try {
    load = startLoad(sandbox);
    const began = performance.now();
    instances = await Promise.all(
      numbers.map(async (number) => {
        const url = `http://127.0.0.1:${await freePort()}`;
        return keepRunning({
          environment: { ...environment, HTTP_PORT: new URL(url).port },
          readyzUrl: `${url}/readyz`,
          logFile: logFileOf(number),
        });
      }),
    );
    await watch(load, instances, began);
    say(await aloneIn(numbers.map(logFileOf)));
    return load.isDone();
  } finally {
    load?.close();
    await Promise.all(instances.map((instance) => instance.stop()));
    await azurite?.close();
  }
}

async function watch(load: Load, instances: readonly Restarting[], began: number): Promise<void> {
  const seconds = () => (performance.now() - began) / 1_000;
  const isOver = () => load.isDone() || seconds() > Number(values.seconds);
  const ends = () => instances.reduce((sum, instance) => sum + instance.ends(), 0);
  const done = new Map<string, string>();
  let nextWord = 5;
  const killing = kill(load, instances, isOver);
  while (!isOver()) {
    await sleep(100);
    for (const { name, left } of load.kinds) {
      if (left.size === 0 && !done.has(name)) done.set(name, `${name} ${seconds().toFixed(1)} s`);
    }
    if (seconds() < nextWord) continue;
    nextWord += 5;
    const left = load.kinds.map(({ name, left }) => `${name} ${left.size}`);
    say(`${seconds().toFixed(0).padStart(4)} s  ${ends()} ends  left: ${left.join(', ')}`);
  }
  await killing;
  say(`answered: ${load.kinds.map(({ name }) => done.get(name) ?? `not all ${name}`).join(', ')}; ${ends()} ends`);
  for (const { name, waits } of load.kinds) {
    const ascending = [...waits].sort((one, other) => one - other);
    const at = (share: number) => `${(percentile(ascending, share) / 1_000).toFixed(1)} s`;
    say(`${name}: ${waits.length} waited p50 ${at(0.5)}, p99 ${at(0.99)}, at most ${at(1)}`);
  }
  const starting = instances.reduce((sum, instance) => sum + instance.startingMs(), 0) / 1_000;
  say(`starts took ${starting.toFixed(1)} s together`);
}

async function kill(load: Load, instances: readonly Restarting[], isOver: () => boolean): Promise<void> {
  const kills = Number(values.kills);
  for (let number = 1; number <= kills; number += 1) {
    const isTurn = () => load.answered() * (kills + 1) >= load.sent() * number;
    while (!isTurn() && !isOver()) await sleep(20);
    if (!isOver()) await instances[number % instances.length]?.kill();
  }
}

/** How many suspects ran alone, and how many groups there were, by the logs. */
async function aloneIn(logFiles: readonly string[]): Promise<string> {
  const logs = await Promise.all(logFiles.map((file) => readFile(file, 'utf8')));
  const turns = logs.flatMap((log) => log.split('\n')).filter((line) => line.includes('"suspects begin"'));
  const alone = turns.filter((line) => line.includes('"alone":true')).length;
  return `turns of suspects: ${turns.length}, of them ${alone} alone`;
}
