import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { buildService } from '../../sandbox/service/build.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { appendEvent } from '../support/appendEvent.ts';
import { fatalAfter } from '../support/fatalMessages.ts';
import { keepRunning } from '../support/restarting.ts';
import { withConstants } from '../support/withConstants.ts';

/**
 * What a message that ends the process costs its neighbours, and what kills from outside cost: `npm run bench-killers`. The
 * service runs as processes that are started again whenever they end.
 */

const usage = `Usage: npm run bench-killers -- [options]

  --slow N        devices with one message each, for which each call of a backend takes 8 s (20)
  --quick N       devices with quick messages (40)
  --messages N    of each quick device (9)
  --fatal MS      one message more ends the process, so many milliseconds after its first call; none: nobody does (0)
  --kills N       from outside, one each time when the service has been ready for three seconds (0)
  --store KIND    file or blob (file)
  --instances N   more than one need the blob store (1)
  --seconds N     after which it is a failure that messages are left (900)
`;

const { values } = parseArgs({
  options: {
    slow: { type: 'string', default: '20' },
    quick: { type: 'string', default: '40' },
    messages: { type: 'string', default: '9' },
    fatal: { type: 'string', default: '0' },
    kills: { type: 'string', default: '0' },
    store: { type: 'string', default: 'file' },
    instances: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '900' },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const hasFatal = values.fatal !== 'none';
const body = Buffer.from(JSON.stringify({ publicKey: 'k'.repeat(200) }));

if (values.help) say(usage);
else process.exitCode = (await run()) ? 0 : 1;

async function run(): Promise<boolean> {
  await buildService();
  const directory = await mkdtemp(join(tmpdir(), 'killers-'));
  const sandbox = await startSandbox({ directory, service: false });
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
  const instances: ReturnType<typeof keepRunning>[] = [];
  try {
    const watched = fill(sandbox);
    const began = performance.now();
    for (let number = 0; number < Number(values.instances); number += 1) {
      const url = `http://127.0.0.1:${await freePort()}`;
      instances.push(
        keepRunning({
          environment: { ...environment, HTTP_PORT: new URL(url).port },
          readyzUrl: `${url}/readyz`,
          logFile: join(directory, `instance-${number}.log`),
        }),
      );
    }
    return await watch(watched, instances, began);
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()));
    await sandbox.close();
    await azurite?.close();
    await rm(directory, { recursive: true, force: true });
  }
}

type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

interface Watched {
  /** Correlation ids without an answer. */
  readonly left: { readonly quick: Set<string>; readonly slow: Set<string>; readonly fatal: Set<string> };
  ended(): void;
}

function named(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index}`);
}

/** Puts the messages into the hub round by round, the slow ones and the fatal one first. */
function fill({ hub, backends }: Sandbox): Watched {
  const slow = named('slow', Number(values.slow));
  const quick = named('quick', Number(values.quick));
  const fatal = hasFatal ? ['killer-0'] : [];
  const left = { quick: new Set<string>(), slow: new Set<string>(), fatal: new Set<string>() };
  for (const device of [...slow, ...fatal, ...quick]) {
    backends.world.principals.createDevice(device, 'acme');
    hub.registry.create(device);
    hub.devicebound.listen(device, (delivery) => delivery.complete());
  }
  for (const deviceId of slow) backends.faults.add({ backend: 'principalManager', deviceId, delayMs: 8_000 });
  if (Number(values.fatal) > 0) {
    for (const deviceId of fatal) backends.faults.add({ backend: 'principalManager', deviceId, delayMs: 3_600_000 });
  }
  const ended = hub.journal.watch((entry) => {
    if (entry.kind !== 'c2d') return;
    for (const ids of Object.values(left)) ids.delete(entry.correlationId ?? '');
  });
  let place = 0;
  const partitionOf = new Map<string, number>();
  function send(device: string, id: string, ids: Set<string>) {
    if (!partitionOf.has(device)) partitionOf.set(device, place++ % hub.partitions.length);
    ids.add(id);
    append(hub.partitions[partitionOf.get(device) ?? 0], device, id);
  }
  for (const device of slow) send(device, `${device}-0`, left.slow);
  for (const device of fatal) send(device, 'fatal-0', left.fatal);
  for (let round = 0; round < Number(values.messages); round += 1) {
    for (const device of quick) send(device, `${device}-${round}`, left.quick);
  }
  return { left, ended };
}

function append(partition: Sandbox['hub']['partitions'][number] | undefined, device: string, id: string): void {
  appendEvent(partition, {
    device,
    properties: {
      msgType: 'action',
      action: 'identity.update',
      version: '2',
      correlationId: id,
      ack: 'all',
      timeout: '300',
    },
    body,
  });
}

/** Until every message is answered. */
async function watch(
  { left, ended }: Watched,
  instances: readonly ReturnType<typeof keepRunning>[],
  began: number,
): Promise<boolean> {
  const seconds = () => (performance.now() - began) / 1_000;
  const ends = () => instances.reduce((sum, instance) => sum + instance.ends(), 0);
  const done = new Map<string, string>();
  const kinds = Object.entries(left).filter(([, ids]) => ids.size > 0);
  const isDone = () => kinds.every(([, ids]) => ids.size === 0);
  let nextWord = 5;
  const killing = kill(instances[0], isDone);
  while (!isDone() && seconds() < Number(values.seconds)) {
    await sleep(100);
    for (const [kind, ids] of kinds) {
      if (ids.size === 0 && !done.has(kind)) done.set(kind, `${kind} ${seconds().toFixed(1)} s`);
    }
    if (seconds() < nextWord) continue;
    nextWord += 5;
    say(
      `${seconds().toFixed(0).padStart(4)} s  ${ends()} ends  left: ${kinds.map(([kind, { size }]) => `${kind} ${size}`)}`,
    );
  }
  await killing;
  ended();
  say(`answered: ${[...done.values()].join(', ')}; ${ends()} ends`);
  return isDone();
}

/** Each time three seconds after it was ready. */
async function kill(instance: ReturnType<typeof keepRunning> | undefined, isDone: () => boolean): Promise<void> {
  await instance?.ready;
  for (let kills = 0; kills < Number(values.kills) && !isDone(); kills += 1) {
    await sleep(3_000);
    await instance?.kill();
    await sleep(1_000);
  }
}
