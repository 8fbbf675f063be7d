import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { message } from 'rhea';
import { afterEach, expect, test } from 'vitest';
import { spawn } from '../../../sandbox/service/endWithUs.ts';
import type { Hub } from '../../src/hub.ts';
import { serviceLink, toDevice } from '../support/bare.ts';
import { connectedDevice, publishPacket } from '../support/device.ts';
import { hubToRestart } from '../support/sharedHub.ts';

const program = fileURLToPath(new URL('../support/persistentHub.ts', import.meta.url));
const primaryKey = Buffer.alloc(32, 5).toString('base64');
const devices = ['pump-1', 'pump-2', 'pump-3', 'pump-4'];
// sleeps: what is sent to it stays in its queue
const sleeper = 'sleeper';

const { directory, start } = hubToRestart();
let child: ChildProcess | undefined;
afterEach(() => void child?.kill('SIGKILL'));

/** A hub in a process of its own, with what the test clients need to know of it. */
async function startChild(): Promise<Hub> {
  const started = spawn(process.execPath, ['scripts/run.js', program, directory, primaryKey, ...devices, sleeper], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  const [line] = (await once(createInterface({ input: started.stdout }), 'line')) as [string];
  const { service, ...described } = JSON.parse(line);
  const identity = { primaryKey };
  return { ...described, connectionString: () => service, registry: { get: () => identity } } as unknown as Hub;
}

/** Publish without pause, some in flight; collects the payloads that were acknowledged. */
async function publishUntilKilled(hub: Hub, deviceId: string, acknowledged: string[]): Promise<void> {
  const device = await connectedDevice(hub, deviceId);
  let next = 0;
  const publish = () => {
    next += 1;
    const topic = `devices/${deviceId}/messages/events/`;
    device.send(publishPacket(topic, `${deviceId} ${next} ${'x'.repeat(next % 700)}`, { messageId: next }));
  };
  const listen = async () => {
    for (;;) {
      const { messageId = 0 } = await device.next('puback');
      acknowledged.push(`${deviceId} ${messageId}`);
      publish();
    }
  };
  for (let i = 0; i < 16; i++) publish();
  void listen();
  await device.closed;
}

/** Send to a device, one after the other; collects the bodies that were accepted. */
async function sendUntilKilled(hub: Hub, accepted: string[]): Promise<void> {
  const link = await serviceLink(hub);
  let next = 0;
  const send = () => link.send(toDevice(sleeper, `command ${++next}`));
  link.on('accepted', () => {
    accepted.push(`command ${accepted.length + 1}`);
    if (next < 50) send();
  });
  send();
  await once(link.connection, 'disconnected');
}

test('a hub that is killed under load has every event and message that it accepted when it starts again', async () => {
  const hub = await startChild();
  const acknowledged: string[] = [];
  const accepted: string[] = [];
  const publishing = devices.map((deviceId) => publishUntilKilled(hub, deviceId, acknowledged));
  const load = [...publishing, sendUntilKilled(hub, accepted)];
  const { status } = await fetch(`${hub.adminUrl}/devices`, { method: 'POST', body: '{"deviceId":"late"}' });
  expect(status).toBe(201);
  await expect.poll(() => acknowledged.length, { timeout: 120_000 }).toBeGreaterThan(2000);
  await expect.poll(() => accepted.length).toBeGreaterThan(20);
  child?.kill('SIGKILL');
  await Promise.all(load);

  const again = await start();
  const kept: string[] = [];
  for (const log of again.partitions)
    for (let sequenceNumber = log.first(); sequenceNumber < log.next(); sequenceNumber++) {
      const body: Buffer = message.decode(log.at(sequenceNumber)?.bytes ?? Buffer.alloc(0))['body'].content;
      kept.push(body.toString().split(' ').slice(0, 2).join(' '));
    }
  const missing = acknowledged.filter((event) => !new Set(kept).has(event));
  expect(missing).toEqual([]);
  expect(new Set(kept).size).toBe(kept.length);
  for (const deviceId of devices) {
    const own = kept.filter((event) => event.startsWith(`${deviceId} `));
    const numbers = own.map((event) => Number(event.split(' ')[1]));
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  }
  const pending = again.devicebound.pending(sleeper).map(({ body }) => body.toString());
  expect(pending.slice(0, accepted.length)).toEqual(accepted);
  expect(again.registry.get('late')).toBeDefined();
});

test('two hubs do not write the same files', async () => {
  await startChild();
  await expect(start()).rejects.toThrow('already');
});
