import { once } from 'node:events';
import type device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import { expect, onTestFinished, test } from 'vitest';
import type { DeviceboundRules } from '../src/cloudToDevice/deviceQueues.ts';
import type { Hub } from '../src/hub.ts';
import { deviceClient, serviceClient, serviceMessage } from './support/clients.ts';
import { connectedDevice, subscribe } from './support/device.ts';
import { hubForTest } from './support/sharedHub.ts';

// What counts as a delivery: only what the device abandons.

const start = async (devicebound: Partial<DeviceboundRules>) => {
  const hub = await hubForTest({ devices: [{ deviceId: 'pump' }], rules: { devicebound } });
  const service = serviceClient(hub);
  await service.open();
  onTestFinished(async () => void (await service.close()));
  const outcomes = () => hub.journal.list({ kind: 'c2d-settled' }).map((entry) => 'outcome' in entry && entry.outcome);
  return { hub, outcomes, send: (body: string) => service.send('pump', serviceMessage(body)) };
};

/** The official device client over AMQP, which settles by hand; what it got. */
const listening = async (hub: Hub) => {
  const client = await deviceClient(hub, 'pump', undefined, amqp.Amqp);
  onTestFinished(async () => void (await client.close().catch(() => undefined)));
  const got: device.Message[] = [];
  client.on('message', (message) => got.push(message));
  await client.open();
  const counts = () => got.map(({ transportObj }) => (transportObj as { delivery_count?: number }).delivery_count ?? 0);
  return { client, got, counts };
};

test('a message is delivered again each time its lock is lost, and that is not counted', async () => {
  const { hub, outcomes, send } = await start({ lockMs: 20, deliveries: 2 });
  const { got, counts } = await listening(hub);
  await send('x');
  await expect.poll(() => got.length).toBeGreaterThan(4);
  expect(new Set(counts())).toEqual(new Set([0]));
  expect(outcomes()).toEqual([]);
});

test('each abandoned delivery is counted, and the message leaves the queue at the limit', async () => {
  const { hub, outcomes, send } = await start({ deliveries: 3 });
  const { client, got, counts } = await listening(hub);
  client.on('message', (message) => void client.abandon(message));
  await send('x');
  await expect.poll(outcomes).toEqual(['undeliverable']);
  expect(got).toHaveLength(3);
  expect(counts()).toEqual([0, 1, 2]);
});

test('over MQTT, where a device cannot abandon a message, the delivery count removes none', async () => {
  const { hub, outcomes, send } = await start({ deliveries: 2 });
  await send('x');
  const next = async () => {
    const connection = await connectedDevice(hub, 'pump');
    await subscribe(connection, 'pump');
    return { connection, message: await connection.next('publish') };
  };
  expect((await next()).message.dup).toBe(false);
  for (let i = 0; i < 5; i++) {
    const { connection, message } = await next();
    expect(message.dup).toBe(true);
    const gone = once(connection.socket, 'close');
    connection.socket.destroy();
    await gone;
  }
  expect(outcomes()).toEqual([]);
  expect(hub.devicebound.pending('pump')).toHaveLength(1);
});
