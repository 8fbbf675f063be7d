import { readFileSync } from 'node:fs';
import type { ReceivedEventData } from '@azure/event-hubs';
import type device from 'azure-iot-device';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bareConnection, ended, outcomeOf, putDeviceToken } from './support/bare.ts';
import {
  deviceClient,
  deviceMessage,
  type Listening,
  listenToEvents,
  registryClient,
  serviceMessage,
} from './support/clients.ts';
import { listenInTest, openDevice, openService } from './support/eventClients.ts';
import { deviceForEach, hubForAll, hubForTest } from './support/sharedHub.ts';

let client: device.Client;
let listening: Listening;
let seen = 0;

const hub = hubForAll({ devices: [{ deviceId: 'pump-1' }, { deviceId: "odd-.%_*?!(),:=@$'" }], partitions: 2 });
beforeAll(async () => {
  client = await deviceClient(hub, 'pump-1');
  await client.open();
  listening = listenToEvents(hub, { startPosition: { offset: '-1' } });
});
afterAll(async () => {
  await listening.stop();
  await client.close();
});

const arrive = async (message: device.Message): Promise<ReceivedEventData> => {
  await client.sendEvent(message);
  seen += 1;
  const event = (await listening.has(seen))[seen - 1];
  if (!event) throw new Error('No event came.');
  return event;
};

describe('a device sends and a consumer receives', () => {
  test('an empty body', async () =>
    expect((await arrive(deviceMessage(Buffer.alloc(0)))).body).toEqual(Buffer.alloc(0)));
  test('a body of 200 KB, which takes several frames', async () => {
    const body = Buffer.alloc(200 * 1024, 'abcdefg');
    expect((await arrive(deviceMessage(body))).body.equals(body)).toBe(true);
  });
  test('the identity stamps that the hub sets, beside what the device says', async () => {
    const message = Object.assign(deviceMessage('x'), { to: '/t' });
    const { systemProperties, partitionKey, enqueuedTimeUtc } = await arrive(message);
    expect(systemProperties).toEqual({
      to: '/t',
      'iothub-connection-device-id': 'pump-1',
      'iothub-connection-auth-method': '{"scope":"device","type":"sas","issuer":"iothub","acceptingIpFilterRule":null}',
      'iothub-connection-auth-generation-id': hub.registry.get('pump-1')?.generationId,
      'iothub-enqueuedtime': expect.any(Number),
      'iothub-message-source': 'Telemetry',
    });
    expect(partitionKey).toBeUndefined();
    const own = Number(systemProperties?.['iothub-enqueuedtime']) - enqueuedTimeUtc.getTime();
    expect(own).toBeLessThanOrEqual(11);
    expect(own).toBeGreaterThanOrEqual(-327);
  });
  test('events of a device whose id has every allowed character', async () => {
    const odd = await openDevice(hub, "odd-.%_*?!(),:=@$'");
    await odd.sendEvent(deviceMessage('x'));
    seen += 1;
    const events = await listening.has(seen);
    const ids = events.map(({ systemProperties }) => systemProperties?.['iothub-connection-device-id']);
    expect(ids).toContain("odd-.%_*?!(),:=@$'");
  });
});

test('a device that connects through a gateway name with the name of the hub is accepted', async () => {
  const text = hub.deviceConnectionString('pump-1');
  const gateway = text.replace(/HostName=([^;]+)/, 'HostName=sandbox-hub.azure-devices.net;GatewayHostName=$1');
  await openDevice(hub, 'pump-1', gateway);
});

describe('a device that names its model', () => {
  // Devices that name the model by which they can be understood.

  const modelId = 'dtmi:com:example:Thermostat;1';
  let deviceId = '';
  const hub = hubForAll({ partitions: 1 });
  deviceForEach(hub, (id) => (deviceId = id));

  const schemaOf = async () => {
    const [{ sequenceNumber = 0 } = {}] = hub.journal.list({ kind: 'd2c', deviceId });
    const startPosition = { sequenceNumber, isInclusive: true };
    const [event] = await listenInTest(hub, { startPosition, partition: '0' }).has(1);
    return event?.systemProperties?.['dt-dataschema'];
  };
  const modelInTwin = async () => (await registryClient(hub, 'service').getTwin(deviceId)).responseBody.modelId;

  test('over MQTT, events and twin of the official client have its model', async () => {
    const client = await deviceClient(hub, deviceId);
    await client.setOptions({ ca: readFileSync(hub.caFile, 'utf8'), modelId });
    await client.open();
    await client.sendEvent(deviceMessage('x'));
    await client.close();
    expect([await schemaOf(), await modelInTwin()]).toEqual([modelId, modelId]);
  });
  test('over AMQP, the model is a property of the link', async () => {
    const connection = await bareConnection(hub);
    await putDeviceToken(hub, connection, deviceId);
    const target = `/devices/${deviceId}/messages/events`;
    const sender = connection.open_sender({ target, properties: { 'com.microsoft:model-id': modelId } });
    expect(await outcomeOf(sender, { body: 'x' })).toBe('accepted');
    expect([await schemaOf(), await modelInTwin()]).toEqual([modelId, modelId]);
  });
  test('an invalid model id is refused, over both protocols', async () => {
    const client = await deviceClient(hub, deviceId);
    await client.setOptions({ ca: readFileSync(hub.caFile, 'utf8'), modelId: 'thermostat' });
    await expect(client.open()).rejects.toMatchObject({ name: 'UnauthorizedError' });
    const connection = await bareConnection(hub);
    await putDeviceToken(hub, connection, deviceId);
    const target = `/devices/${deviceId}/messages/events`;
    const sender = connection.open_sender({ target, properties: { 'com.microsoft:model-id': 'thermostat' } });
    expect(await ended(sender)).toBe('com.microsoft:argument-error');
    expect(hub.journal.list({ deviceId, kind: 'connected' })).toEqual([]);
    expect(hub.journal.list({ deviceId, kind: 'refused' })).toMatchObject([{ reason: 'The id of the model is none.' }]);
  });
});

test('in strict mode a property with characters that IoT Hub does not document is refused', async () => {
  const strict = await hubForTest({ strictProperties: true, devices: [{ deviceId: 'pump' }] });
  const client = await openService(strict);
  await client.send('pump', serviceMessage('x', { properties: { good: 'a-b' } }));
  await expect(client.send('pump', serviceMessage('x', { properties: { bad: 'a/b' } }))).rejects.toThrow();
  expect(strict.devicebound.pending('pump')).toHaveLength(1);
});
