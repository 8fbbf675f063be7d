import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import { buildService } from '../../sandbox/service/build.ts';
import { createBlobs } from '../../src/deadLetters/blobs.ts';
import { idOf, print } from '../../src/deadLetters/deadLetter.ts';
import { letter } from '../support/letters.ts';
import { startChild } from './processes/child.ts';
import type { Served } from './processes/hub.ts';
import { startProgram } from './processes/program.ts';
import { cpuOf } from './processes/usage.ts';
import type { Environment } from './programs/environment.ts';

/**
 * What it costs to catch up after a take-over, when every message that waits may have been handled before:
 * `npm run bench-takeover`. The requests to the store of dead letters are counted.
 */

const usage = `Usage: npm run bench-takeover -- [options]

  --messages N   in the hub when the service starts (100000)
  --devices N    that sent them, in turn (1000)
  --letters N    of other devices in the store (1000)
  --store KIND   directory or blob (blob)
`;

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '100000' },
    devices: { type: 'string', default: '1000' },
    letters: { type: 'string', default: '1000' },
    store: { type: 'string', default: 'blob' },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const partitions = 4;

if (values.help) say(usage);
else await run();

async function run(): Promise<void> {
  await buildService();
  const [messages, devices] = [Number(values.messages), Number(values.devices)];
  const directory = await mkdtemp(join(tmpdir(), 'takeover-'));
  await mkdir(join(directory, 'hub'));
  let requests: Record<string, number> = {};
  const azurite = await startAzurite((method) => {
    requests[method] = (requests[method] ?? 0) + 1;
  });
  const container = 'dead-letters';
  const limits = { attemptMs: 60_000, attempts: 3, pauseMs: 200, verbMs: 200_000, pageLetters: 5_000 };
  const blobs = createBlobs({ account: azurite.connectionString, container, limits });
  const others = Array.from({ length: Number(values.letters) }, (_, n) => letter(n, { deviceId: `other-${n % 50}` }));
  await Promise.all(others.map((one) => blobs.write(idOf(one), print(one))));
  type Described = Omit<Environment, 'partitions' | 'backendsUrl'> & { readonly caFile: string };
  const hub = await startChild<Described>('./hub.ts', [join(directory, 'hub'), String(devices), String(partitions)]);
  const backends = await startChild<{ port: number }>('./backends.ts', []);
  const place = { ...hub.described, partitions, backendsUrl: `http://127.0.0.1:${backends.described.port}` };
  try {
    await hub.call('send', { kind: 'update', messages, devices });
    say(`${messages} messages of ${devices} devices wait in the hub; ${others.length} dead letters in blobs`);
    requests = {};
    const inBlobs = { DEAD_LETTERS_STORE: 'blob', DEAD_LETTERS_CONNECTION_STRING: azurite.connectionString };
    const environment = values.store === 'blob' ? inBlobs : {};
    const began = performance.now();
    const program = await startProgram({ program: 'service', environment }, place, hub.described.caFile, directory);
    for (let second = 1; !(await hub.call<{ isAll: boolean }>('progress')).isAll; second += 1) {
      await sleep(1_000);
      const { done } = await hub.call<{ done: number }>('progress');
      if (second % 10 === 0) say(`${String(second).padStart(4)} s  ${done} messages  ${JSON.stringify(requests)}`);
    }
    const served = await hub.call<Served>('served');
    const seconds = (performance.now() - began) / 1000;
    const cpu = cpuOf(program.pid) / messages;
    await program.end('SIGTERM');
    say(`${cpu.toFixed(0)} µs of CPU each, ${(messages / seconds).toFixed(0)} messages a second`);
    say(`requests to the store: ${JSON.stringify(requests)}; faults: ${JSON.stringify(served.faults)}`);
  } finally {
    await Promise.all([hub.stop(), backends.stop(), azurite.close()]);
    await rm(directory, { recursive: true, force: true });
  }
}
