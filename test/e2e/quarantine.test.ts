import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Device } from '../../sandbox/device/device.ts';
import { buildService } from '../../sandbox/service/build.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { fatalMessages, withConstants } from '../support/processes.ts';
import { keepRunning, type Restarting } from '../support/restarting.ts';
import { storageAccount } from '../support/storageAccount.ts';
import { runNode } from './commands/run.ts';
import { type AckBody, bodyOf, startTestSandbox, type TestSandbox } from './testSandbox.ts';

// A message ends every process that handles it, and somebody starts the processes again.

const kinds = {
  'with a file': { instances: 1, isBlob: false },
  'with blobs, as two instances': { instances: 2, isBlob: true },
};

const hurried = withConstants({ timing: { expirySeconds: 3 } });
const preloads = { NODE_OPTIONS: `${hurried.NODE_OPTIONS} ${fatalMessages.NODE_OPTIONS}` };

let sandbox: TestSandbox;
let instances: Restarting[] = [];
let devices: Device[] = [];

beforeAll(async () => void (await buildService()));
beforeEach(async () => (sandbox = await startTestSandbox({ service: false })));
afterEach(async () => {
  await Promise.all(instances.map((instance) => instance.stop()));
  await Promise.all(devices.map((device) => device.close()));
  await sandbox.close();
  [instances, devices] = [[], []];
});

async function environmentOf(isBlob: boolean): Promise<Record<string, string>> {
  const given = sandbox.state.service.environment;
  if (!isBlob) return given;
  const { connectionString } = await storageAccount();
  return { ...given, STORE: 'blob', STORE_CONNECTION_STRING: connectionString };
}

async function start(number: number, environment: Readonly<Record<string, string>>): Promise<Restarting> {
  const url = `http://127.0.0.1:${await freePort()}`;
  return keepRunning({
    environment: { ...environment, ...preloads, HTTP_PORT: new URL(url).port },
    readyzUrl: `${url}/readyz`,
    logFile: join(sandbox.directory, `instance-${number}.log`),
  });
}

type Heard = Readonly<{ id: string; code: string; details: string }>;

/** What a device is told, until so many of its messages are answered. A repeated answer counts once. */
async function hear(device: Device, count: number): Promise<Heard[]> {
  const heard = new Map<string, Heard>();
  while (heard.size < count) {
    const reply = await device.next(200_000);
    if (reply === undefined) break;
    const { code, details } = bodyOf(reply) as AckBody;
    const id = reply.properties['correlationId'] ?? '';
    if (!heard.has(reply.messageId ?? '')) heard.set(reply.messageId ?? '', { id, code, details });
  }
  return [...heard.values()];
}

const key = Buffer.from(JSON.stringify({ publicKey: 'key' }));
const send = (device: Device, id: string) => device.send(envelope('identity.update', id), key);

const deadLetters = async (environment: Readonly<Record<string, string>>) =>
  (await runNode(['dist/deadLetters.js', 'list'], environment)).stdout;

const logOf = (count: number) =>
  Array.from({ length: count }, (_, n) => readFileSync(join(sandbox.directory, `instance-${n}.log`), 'utf8')).join(
    '\n',
  );

it.each(Object.entries(kinds))(
  'a message that ends the process %s is parked, and no other message',
  async (_kind, { instances: count, isBlob }) => {
    const environment = await environmentOf(isBlob);
    const ids = ['pump-1', 'pump-2', 'gateway-1', 'rival-1', 'pump-3', 'pump-4'];
    devices = await Promise.all(ids.map((id) => sandbox.connect(id)));
    const [killer, ...others] = devices as [Device, ...Device[]];
    // Its messages are in work at each end.
    sandbox.backends.faults.add({ backend: 'principalManager', deviceId: 'rival-1', delayMs: 200 });

    instances = await Promise.all(Array.from({ length: count }, (_, number) => start(number, environment)));
    await Promise.all(instances.map(({ ready }) => ready));
    for (const device of others) await send(device, 'first');
    for (const id of ['before', 'fatal-1', 'behind']) await send(killer, id);
    for (const device of others) for (const id of ['second', 'third']) await send(device, id);

    const [told, ...rest] = await Promise.all(devices.map((device) => hear(device, 3)));
    const details = expect.stringMatching(/^the message is not executed again, incident /);
    expect(told).toEqual([
      { id: 'before', code: 'ok', details: '' },
      { id: 'fatal-1', code: 'internal_platform_error', details },
      { id: 'behind', code: 'ok', details: '' },
    ]);
    for (const heard of rest)
      expect(heard.map(({ id, code }) => [id, code])).toEqual(['first', 'second', 'third'].map((id) => [id, 'ok']));
    // For each of them: on a busy machine both meet the message again and again.
    expect(instances.reduce((sum, { ends }) => sum + ends(), 0)).toBeLessThanOrEqual(8 * count);
    expect(await Promise.all(instances.map((instance) => instance.stop()))).toEqual(instances.map(() => 0));

    const listed = await deadLetters(environment);
    expect(listed.trim().split('\n')).toEqual([
      expect.stringMatching(/"pump-1" {2}identity\.update {2}internal_platform_error/),
    ]);
    const incident = /[\da-f-]{36}$/.exec(told?.[1]?.details ?? '')?.[0] ?? 'none';
    const parked = new RegExp(`"level":"error".*"incident":"${incident}".*parked without being executed`);
    expect(logOf(count)).toMatch(parked);
  },
);
