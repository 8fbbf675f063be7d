import { readFileSync } from 'node:fs';
import device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import type iothub from 'azure-iothub';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { serviceLink, toDevice } from './support/bare.ts';
import {
  agentOf,
  called,
  deviceClient,
  deviceMessage,
  moduleClient,
  registryClient,
  serviceMessage,
} from './support/clients.ts';
import { eventProducer, listenInTest, openDevice, serviceForAll } from './support/eventClients.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';

// What the official device clients can do, the same over AMQP and MQTT.

let service: iothub.Client;
let registry: iothub.Registry;
let deviceId = '';
const hub = hubForAll({ partitions: 1 });
beforeAll(() => (registry = registryClient(hub, 'iothubowner')));
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));

describe.each([
  ['AMQP', amqp.Amqp],
  ['MQTT', mqtt.Mqtt],
])('a device over %s', (_, transport) => {
  const open = () => openDevice(hub, deviceId, undefined, transport);
  const openModule = async () => {
    hub.registry.create(deviceId, { moduleId: 'm1' });
    const client = await moduleClient(hub, deviceId, 'm1', transport);
    onTestFinished(() => void client.close());
    await client.open();
    return client;
  };
  const last = () => hub.journal.list({ kind: 'd2c', deviceId }).at(-1);

  test('sends messages with properties', async () => {
    const client = await open();
    const message = deviceMessage('{"a":1}', { msgType: 'action', 'a b': 'ü/&' });
    const correlationId = '0d2a7f0e-6d7c-4c5e-9b2a-1f6d2d1f9a10';
    const system = { messageId: 'm1', correlationId, contentType: 'application/json', contentEncoding: 'utf-8' };
    Object.assign(message, system);
    await client.sendEvent(message);
    expect(last()).toMatchObject({
      ...{ deviceId, properties: { msgType: 'action', 'a b': 'ü/&' }, system, body: Buffer.from('{"a":1}') },
    });
  });
  test('reads its twin and reports properties', async () => {
    hub.twins.change(deviceId, { properties: { desired: { interval: 5 } } });
    const client = await open();
    const twin = await client.getTwin();
    expect(twin.properties.desired).toMatchObject({ interval: 5, $version: 2 });
    await called((done) => twin.properties.reported.update({ firmware: { version: '1.0' }, gone: null }, done));
    const seen = await registry.getTwin(deviceId);
    expect(seen.responseBody.properties.reported).toMatchObject({ firmware: { version: '1.0' }, $version: 2 });
  });
  test('is notified when a service clears its desired properties, and then has none', async () => {
    hub.twins.change(deviceId, { properties: { desired: { interval: 5, limits: { rpm: 9 } } } });
    const client = await open();
    const twin = await client.getTwin();
    const told = new Promise((resolve) => {
      twin.on('properties.desired', (delta) => 'interval' in delta && delta.interval === null && resolve(delta));
    });
    // until the device listens, nobody is told of what changes
    const names = () => Object.keys(twin.properties.desired).filter((name) => !name.startsWith('$'));
    await client.sendEvent(deviceMessage('ready'));
    await expect
      .poll(async () => {
        await registry.updateTwin(deviceId, { properties: { desired: { ready: true } } }, '*');
        return names();
      })
      .toContain('ready');
    const { responseBody } = await registry.updateTwin(deviceId, { properties: { desired: null } }, '*');
    expect(Object.keys(responseBody.properties.desired).sort()).toEqual(['$metadata', '$version']);
    expect(await told).toMatchObject({ interval: null, limits: null, ready: null });
    expect(names()).toEqual([]);
  });
  test('gets an error for an invalid patch of its twin', async () => {
    const client = await open();
    const twin = await client.getTwin();
    const patch = { 'a.b': 1 };
    await expect(called((done) => twin.properties.reported.update(patch, done))).rejects.toThrow();
  });
  test('sends as a module, with the module’s stamps, into the partition of its device', async () => {
    const client = await openModule();
    await client.sendEvent(deviceMessage('from the module'));
    expect(last()).toMatchObject({ deviceId, moduleId: 'm1' });
    const startPosition = { sequenceNumber: last()?.sequenceNumber ?? 0, isInclusive: true };
    const [event] = await listenInTest(hub, { startPosition, partition: '0' }).has(1);
    expect(event?.partitionKey).toBeUndefined();
    expect(event?.systemProperties).toMatchObject({
      'iothub-connection-device-id': deviceId,
      'iothub-connection-module-id': 'm1',
      'iothub-connection-auth-generation-id': hub.registry.get(`${deviceId}/m1`)?.generationId,
    });
  });
  test('reads the module’s own twin as a module', async () => {
    const client = await openModule();
    const twin = await client.getTwin();
    await called((done) => twin.properties.reported.update({ of: 'the module' }, done));
    expect(hub.twins.get(`${deviceId}/m1`).reported).toMatchObject({ of: 'the module' });
    expect(hub.twins.get(deviceId).reported['of']).toBeUndefined();
  });
  test('with a wrong key is refused', async () => {
    const right = hub.deviceConnectionString(deviceId);
    const wrong = right.replace(/SharedAccessKey=.*/, 'SharedAccessKey=d3JvbmcgYXMgY2FuIGJl');
    const client = await deviceClient(hub, deviceId, wrong, transport);
    client.on('error', () => undefined);
    await expect(client.open()).rejects.toThrow();
  });
  test('is disconnected when it is disabled, and refused after that', async () => {
    const client = await open();
    await client.sendEvent(deviceMessage('x'));
    expect(hub.isConnected(deviceId)).toBe(true);
    await registry.update({ deviceId, status: 'disabled' } as iothub.Device);
    await expect.poll(() => hub.isConnected(deviceId)).toBe(false);
    const again = await deviceClient(hub, deviceId, undefined, transport);
    again.on('error', () => undefined);
    await expect(again.open()).rejects.toThrow();
  });
});

test('a message to a device over AMQP arrives with its properties, and is removed when the device completes it', async () => {
  const client = await openDevice(hub, deviceId, undefined, amqp.Amqp);
  const received: device.Message[] = [];
  client.on('message', (message) => received.push(message));
  const properties = { msgType: 'ack', 'a b': 'ü/&' };
  await service.send(deviceId, serviceMessage('hello', { messageId: 'm1', correlationId: 'c1', properties }));
  await expect.poll(() => received.length).toBe(1);
  const [message] = received as [device.Message];
  expect(message.getData().toString()).toBe('hello');
  expect(message).toMatchObject({ messageId: 'm1', correlationId: 'c1', contentType: 'application/json' });
  expect(message.properties.propertyList).toEqual(Object.entries(properties).map(([key, value]) => ({ key, value })));
  expect(hub.devicebound.pending(deviceId)).toHaveLength(1);
  await client.complete(message);
  const settled = () => hub.journal.list({ kind: 'c2d-settled', deviceId });
  await expect.poll(settled).toMatchObject([{ messageId: 'm1', outcome: 'completed' }]);
  expect(hub.devicebound.pending(deviceId)).toEqual([]);
});

/** A token of the device for half a minute. */
const newSas = (connectionString = hub.deviceConnectionString(deviceId)): string => {
  const [, host = ''] = /HostName=([^;]*)/.exec(connectionString) ?? [];
  const key = hub.registry.get(deviceId)?.primaryKey ?? '';
  return device.SharedAccessSignature.create(host, deviceId, key, Math.ceil(Date.now() / 1000) + 30).toString();
};

test.each([
  ['AMQP', amqp.Amqp, undefined],
  ['AMQP and WebSockets', amqp.AmqpWs, 'amqp'],
  ['MQTT', mqtt.Mqtt, undefined],
  ['MQTT and WebSockets', mqtt.MqttWs, 'mqtt'],
])('a device over %s renews its token, and still sends and receives', async (_, transport, agentFor) => {
  const text = hub.deviceConnectionString(deviceId);
  // WebSockets go to port 443, but for an agent
  const address = agentFor ? text.replace(/localhost:\d+/, 'localhost') : text;
  const client = device.Client.fromSharedAccessSignature(newSas(address), transport);
  onTestFinished(() => void client.close());
  await client.setOptions({ ca: readFileSync(hub.caFile, 'utf8') });
  if (agentFor) await client.setOptions({ [agentFor]: { webSocketAgent: agentOf(hub) } });
  await client.open();
  const got: device.Message[] = [];
  client.on('message', (message: device.Message) => got.push(message));
  for (const body of ['before', 'after']) {
    await service.send(deviceId, serviceMessage(body));
    await client.sendEvent(deviceMessage(body));
    await expect.poll(() => got.map((message) => message.getData().toString()).at(-1)).toBe(body);
    await client.complete(got.at(-1) as device.Message);
    await client.updateSharedAccessSignature(newSas());
  }
  const bodies = hub.journal.list({ kind: 'd2c', deviceId }).map((entry) => 'body' in entry && String(entry.body));
  expect(bodies).toEqual(['before', 'after']);
});

describe('after a drop', () => {
  // A connection whose sending side the hub has ended cannot acknowledge: nothing that still comes on it is taken in.

  let deviceId = '';
  const hub = hubForAll({ partitions: 1, ownerMaySend: true });
  deviceForEach(hub, (id) => (deviceId = id));

  const drop = (connections: 'device' | 'service' | 'events') =>
    hub.faults.strike({ kind: 'drop', how: 'fin', connections });
  const allGone = () => expect.poll(() => hub.counters().connections.all).toBe(0);
  const arrived = () =>
    hub.journal.list({ kind: 'd2c', deviceId }).map((entry) => 'body' in entry && String(entry.body));

  test.each([
    ['AMQP', amqp.Amqp],
    ['MQTT', mqtt.Mqtt],
  ])('events that a device sends over %s after the drop, before it notices, are not appended', async (_, transport) => {
    const client = await openDevice(hub, deviceId, undefined, transport);
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
});
