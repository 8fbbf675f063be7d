import type device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import type iothub from 'azure-iothub';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  called,
  deviceClient,
  deviceMessage,
  listenToEvents,
  moduleClient,
  registryClient,
  serviceMessage,
} from './support/clients.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';
import { serviceForAll } from './support/sharedService.ts';

// What the official device clients can do, the same over AMQP and MQTT.

let service: iothub.Client;
let registry: iothub.Registry;
let deviceId = '';
const hub = hubForAll({ partitions: 1 });
beforeAll(() => {
  registry = registryClient(hub, 'iothubowner');
});
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));

describe.each([
  ['AMQP', amqp.Amqp],
  ['MQTT', mqtt.Mqtt],
])('a device over %s', (_, transport) => {
  const opened = async <C extends device.Client | device.ModuleClient>(starting: Promise<C>): Promise<C> => {
    const client = await starting;
    onTestFinished(() => void client.close());
    await client.open();
    return client;
  };
  const open = () => opened(deviceClient(hub, deviceId, undefined, transport));
  const openModule = () => {
    hub.registry.create(deviceId, { moduleId: 'm1' });
    return opened(moduleClient(hub, deviceId, 'm1', transport));
  };
  const last = () => hub.journal.list({ kind: 'd2c', deviceId }).at(-1);
  /** The same as a receiver gets it. */
  const lastEvent = async () => {
    const entry = last();
    const sequenceNumber = entry?.kind === 'd2c' ? entry.sequenceNumber : 0;
    const listening = listenToEvents(hub, { startPosition: { sequenceNumber, isInclusive: true }, partition: '0' });
    const [event] = await listening.has(1);
    await listening.stop();
    return event;
  };

  test('sends messages with properties', async () => {
    const client = await open();
    const message = deviceMessage('{"a":1}', { msgType: 'action', 'a b': 'ü/&' });
    const correlationId = '0d2a7f0e-6d7c-4c5e-9b2a-1f6d2d1f9a10';
    const system = { messageId: 'm1', correlationId, contentType: 'application/json', contentEncoding: 'utf-8' };
    Object.assign(message, system);
    await client.sendEvent(message);
    expect(last()).toMatchObject({
      deviceId,
      properties: { msgType: 'action', 'a b': 'ü/&' },
      system,
      body: Buffer.from('{"a":1}'),
    });
  });
  test('is stamped with its identity', async () => {
    const client = await open();
    await client.sendEvent(deviceMessage('x', { 'iothub-connection-device-id': 'somebody-else' }));
    const event = await lastEvent();
    expect(event?.systemProperties).toMatchObject({
      'iothub-connection-device-id': deviceId,
      'iothub-connection-auth-generation-id': hub.registry.get(deviceId)?.generationId,
      'iothub-message-source': 'Telemetry',
    });
    const method = JSON.parse(String(event?.systemProperties?.['iothub-connection-auth-method']));
    expect(method).toMatchObject({ scope: 'device', type: 'sas' });
  });
  test('is shown as connected or disconnected by the registry', async () => {
    const state = async () => (await registry.get(deviceId)).responseBody.connectionState;
    expect(await state()).toBe('Disconnected');
    const client = await open();
    await client.sendEvent(deviceMessage('x'));
    expect(await state()).toBe('Connected');
    await client.close();
    await expect.poll(state).toBe('Disconnected');
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
    const event = await lastEvent();
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
    client.on('error', () => undefined);
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
  const client = await deviceClient(hub, deviceId, undefined, amqp.Amqp);
  onTestFinished(() => void client.close());
  const received: device.Message[] = [];
  client.on('message', (message) => received.push(message));
  await client.open();
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

test('a second connection of a device replaces the first, over any protocols', async () => {
  const first = await deviceClient(hub, deviceId, undefined, amqp.Amqp);
  first.on('error', () => undefined);
  await first.open();
  await first.sendEvent(deviceMessage('x'));
  const second = await deviceClient(hub, deviceId, undefined, mqtt.Mqtt);
  await second.open();
  const ended = hub.journal.list({ kind: 'disconnected', deviceId });
  expect(ended).toMatchObject([{ protocol: 'amqp', reason: 'the device connected again' }]);
  expect(hub.isConnected(deviceId)).toBe(true);
  await second.close();
  await first.close();
});
