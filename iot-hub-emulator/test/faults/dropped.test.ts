import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import { expect, test } from 'vitest';
import { serviceLink, toDevice } from '../support/bare.ts';
import { deviceClient, deviceMessage } from '../support/clients.ts';
import { eventProducer } from '../support/eventClients.ts';
import { deviceForEach, hubForAll } from '../support/sharedHub.ts';

// A connection whose sending side the hub has ended cannot acknowledge: nothing that still comes on it is taken in.

let deviceId = '';
const hub = hubForAll({ partitions: 1, ownerMaySend: true });
deviceForEach(hub, (id) => (deviceId = id));

const drop = (connections: 'device' | 'service' | 'events') =>
  hub.faults.strike({ kind: 'drop', how: 'fin', connections });
const allGone = () => expect.poll(() => hub.counters().connections.all).toBe(0);
const arrived = () => hub.journal.list({ kind: 'd2c', deviceId }).map((entry) => 'body' in entry && String(entry.body));

test.each([
  ['AMQP', amqp.Amqp],
  ['MQTT', mqtt.Mqtt],
])('events that a device sends over %s after the drop, before it notices, are not appended', async (_, transport) => {
  const client = await deviceClient(hub, deviceId, undefined, transport);
  client.on('error', () => undefined);
  await client.open();
  await client.sendEvent(deviceMessage('before'));
  expect(await drop('device')).toBe(1);
  const sent = client.sendEvent(deviceMessage('in flight')).then(
    () => 'acknowledged',
    () => 'lost',
  );
  await allGone();
  expect(arrived()).toEqual(['before']);
  await client.close().catch(() => undefined);
  expect(await sent).toBe('lost');
});

test('of the messages that a device has in flight, exactly the acknowledged ones are appended', async () => {
  const client = await deviceClient(hub, deviceId, undefined, amqp.Amqp);
  client.on('error', () => undefined);
  await client.open();
  await client.sendEvent(deviceMessage('first'));
  const acknowledged = ['first'];
  const sends = Array.from({ length: 500 }, (_, i) =>
    client.sendEvent(deviceMessage(`${i}`)).then(
      () => void acknowledged.push(`${i}`),
      () => undefined,
    ),
  );
  await expect.poll(() => arrived().length, { interval: 1 }).toBeGreaterThan(1);
  await drop('device');
  await allGone();
  await client.close().catch(() => undefined);
  await Promise.all(sends);
  expect(arrived()).toEqual(acknowledged);
});

test('messages that a service sends after the drop, before it notices, are not queued', async () => {
  const sender = await serviceLink(hub);
  expect(await drop('service')).toBe(1);
  sender.send(toDevice(deviceId));
  await allGone();
  expect(hub.journal.list({ kind: 'c2d', deviceId })).toEqual([]);
});

test('events that a producer sends after the drop, before it notices, are not appended', async () => {
  const producer = eventProducer(hub);
  await producer.sendBatch([{ body: 'before' }], { partitionId: '0' });
  const appended = hub.partitions[0]?.next();
  await drop('events');
  await producer.sendBatch([{ body: 'in flight' }], { partitionId: '0' }).catch(() => undefined);
  expect(hub.partitions[0]?.next()).toBe(appended);
});
