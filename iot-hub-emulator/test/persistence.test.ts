import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { EventHubConsumerClient } from '@azure/event-hubs';
import amqp from 'azure-iot-device-amqp';
import rhea, { message } from 'rhea';
import { afterEach, describe, expect, test } from 'vitest';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { eventOverhead } from '../src/events/partitionLog.ts';
import type { Hub } from '../src/hub.ts';
import { append, eventReceiver, outcomeOf, serviceLink, toDevice } from './support/bare.ts';
import { called, registryClient, serviceMessage } from './support/clients.ts';
import { connectedDevice, publishPacket, subscribe } from './support/device.ts';
import { openDevice, openService, readFeedback } from './support/eventClients.ts';
import { hubToRestart } from './support/sharedHub.ts';

const { directory, start } = hubToRestart({ partitions: 2 });
const send = async (to: Hub, deviceId: string, body: string) => {
  const link = await serviceLink(to);
  expect(await outcomeOf(link, toDevice(deviceId, body))).toBe('accepted');
  link.connection.close();
};

test('events keep their sequence numbers, offsets, times and bytes, and new ones follow them', async () => {
  const first = await start();
  append(first, ['a', 'b', 'c'], 1);
  const before = [0, 1, 2].map((sequenceNumber) => ({ ...first.partitions[1]?.at(sequenceNumber) }));
  const second = await start();
  expect([0, 1, 2].map((sequenceNumber) => second.partitions[1]?.at(sequenceNumber))).toEqual(before);
  append(second, ['d'], 1);
  expect(second.partitions[1]?.last()).toMatchObject({ sequenceNumber: 3 });
  const { bodies } = await eventReceiver(second, { partition: 1 });
  await expect.poll(() => bodies).toEqual(['a', 'b', 'c', 'd']);
});

test('retention holds across a restart, and removes dropped events from the file', async () => {
  const file = join(directory, 'data', 'partition-0.log');
  const texts = Array.from({ length: 100 }, (_, i) => `event ${i + 100}`);
  const bytes =
    rhea.message.encode({ body: rhea.message.data_section(Buffer.from('event 100')) }).length + eventOverhead;
  const rules = { bounds: { partition: 10 * bytes } };
  const first = await start({ rules });
  append(first, texts);
  expect((await stat(file)).size).toBeLessThan(21 * bytes);
  const second = await start({ rules });
  expect([second.partitions[0]?.first(), second.partitions[0]?.next()]).toEqual([90, 100]);
  append(second, ['event 200']);
  const third = await start({ rules });
  expect([third.partitions[0]?.first(), third.partitions[0]?.next()]).toEqual([91, 101]);
});

test('devices keep their keys and generation, and those that were deleted stay deleted', async () => {
  const first = await start({ devices: [{ deviceId: 'pump-1' }] });
  first.registry.create('pump-2');
  first.registry.create('gone');
  first.registry.delete('gone');
  const before = first.registry.list();
  const second = await start({ devices: [{ deviceId: 'pump-1' }] });
  expect(second.registry.list()).toEqual(before.map((device) => JSON.parse(JSON.stringify(device))));
  await connectedDevice(second, 'pump-2');
});

test('messages for devices wait in order with their delivery counts; completed ones are gone', async () => {
  const first = await start({ devices: [{ deviceId: 'pump-1' }] });
  for (const body of ['taken', 'delivered', 'waiting']) await send(first, 'pump-1', body);
  const device = await connectedDevice(first, 'pump-1');
  await subscribe(device, 'pump-1');
  const { messageId } = await device.next('publish');
  device.send({ cmd: 'puback', ...(messageId === undefined ? {} : { messageId }) });
  await expect.poll(() => first.devicebound.pending('pump-1').length).toBe(2);
  device.socket.destroy();

  const second = await start();
  const again = await connectedDevice(second, 'pump-1');
  await subscribe(again, 'pump-1');
  for (const payload of ['delivered', 'waiting'])
    expect(await again.next('publish')).toMatchObject({ payload: Buffer.from(payload), dup: true });
  const [entry] = second.journal.list({ kind: 'c2d-delivered' });
  expect(entry).toMatchObject({ deliveryCount: 1 });
});

test('messages that expired while the hub was down are not delivered', async () => {
  let time = Date.now();
  const now = () => time;
  await send(await start({ devices: [{ deviceId: 'pump-1' }], now }), 'pump-1', 'old');
  time += 2 * 3600 * 1000;
  const second = await start({ now });
  expect(second.devicebound.pending('pump-1')).toEqual([]);
});

test('a hub does not start with fewer partitions than it has stored', async () => {
  await start({ partitions: 3 });
  await expect(start({ partitions: 2 })).rejects.toThrow('3 partitions');
});

describe('after a kill', () => {
  const program = fileURLToPath(new URL('./support/persistentHub.ts', import.meta.url));
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
});

describe('what survives', () => {
  // What the official clients find again after a restart, besides events and messages.

  const { start } = hubToRestart({ devices: [{ deviceId: 'pump' }] });

  test('the creation time of the hub is that of its first start', async () => {
    const created = async (at: Hub) => {
      const client = new EventHubConsumerClient('$Default', at.eventsConnectionString);
      const { createdOn } = await client.getEventHubProperties();
      await client.close();
      return createdOn.toISOString();
    };
    const before = await created(await start({ now: () => Date.UTC(2026, 0, 1) }));
    expect(before).toBe('2026-01-01T00:00:00.000Z');
    expect(await created(await start())).toBe(before);
  });
  test('twins survive a restart, also those of modules and unchanged ones', async () => {
    const first = await start();
    first.registry.create('pump', { moduleId: 'm1' });
    first.registry.create('idle');
    first.registry.create('gone');
    const owner = registryClient(first, 'iothubowner');
    await owner.updateTwin('pump', { tags: { hall: 1 }, properties: { desired: { limits: { rpm: [1, 9] } } } }, '*');
    await owner.updateModuleTwin('pump', 'm1', { tags: { of: 'the module' } }, '*');
    await owner.updateTwin('gone', { tags: { old: true } }, '*');
    const client = await openDevice(first, 'pump');
    const twin = await client.getTwin();
    await called((done) => twin.properties.reported.update({ rpm: 5 }, done));
    await client.close();
    const twins = async (at: Hub) => {
      const registry = registryClient(at, 'iothubowner');
      const pump = [await registry.getTwin('pump'), await registry.getModuleTwin('pump', 'm1')];
      const found = [...pump, await registry.getTwin('idle')];
      return found.map(({ responseBody: { etag, tags, properties } }) =>
        JSON.parse(JSON.stringify({ etag, tags, properties })),
      );
    };
    const before = await twins(first);
    first.registry.delete('gone');
    const second = await start();
    expect(await twins(second)).toEqual(before);
    expect(before[0]).toMatchObject({ tags: { hall: 1 }, properties: { reported: { rpm: 5, $version: 2 } } });
    second.registry.create('gone');
    expect(second.twins.get('gone').tags).toEqual({});
    second.twins.report('pump', { rpm: 6 });
    expect((await start()).twins.get('pump').reported).toMatchObject({ rpm: 6, $version: 3 });
  });
  test('feedback that no service has fetched survives a restart, once; fetched feedback does not', async () => {
    const first = await start({ rules: { feedback: { batch: 2, everyMs: 3_600_000 } } });
    const service = await openService(first);
    const client = await openDevice(first, 'pump', undefined, amqp.Amqp);
    client.on('message', (message) => void client.complete(message));
    const send = (messageId: string) =>
      service.send('pump', Object.assign(serviceMessage('x', { messageId }), { ack: 'full' }));
    await send('1'); // the first leaves at once
    expect(await fetched(first, 1)).toEqual(['1']);
    for (const id of ['2', '3', '4']) await send(id); // two together, the last waits for another
    await expect.poll(() => first.journal.list({ kind: 'c2d-settled' }).length).toBe(4);
    await client.close();

    const second = await start({ rules: { feedback: { batch: 2, everyMs: 10 } } });
    expect(await fetched(second, 3)).toEqual(['2', '3', '4']);
  });

  /** Complete feedback until so many messages were told of. */
  async function fetched(from: Hub, count: number): Promise<string[]> {
    const service = await openService(from);
    const ids: string[] = [];
    await new Promise<void>((resolve) => {
      void readFeedback(service, (records) => {
        ids.push(...records.map(({ originalMessageId }) => originalMessageId));
        if (ids.length >= count) resolve();
      });
    });
    await service.close();
    return ids;
  }
});
