import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bareConnection, ended, outcomeOf, putDeviceToken } from './support/bare.ts';
import { deviceClient, deviceMessage, listenToEvents, registryClient } from './support/clients.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';

// Devices that name the model by which they can be understood.

const modelId = 'dtmi:com:example:Thermostat;1';
let listening: ReturnType<typeof listenToEvents>;
let deviceId = '';
const hub = hubForAll({ partitions: 1 });
deviceForEach(hub, (id) => (deviceId = id));
beforeEach(() => {
  listening = listenToEvents(hub, { startPosition: { offset: '@latest' }, partition: '0' });
});
afterEach(() => listening.stop());

const receiverThere = () => expect.poll(() => hub.counters().receivers.length).toBe(1);
const schemaOf = async () => (await listening.has(1))[0]?.systemProperties?.['dt-dataschema'];
const modelInTwin = async () => (await registryClient(hub, 'service').getTwin(deviceId)).responseBody.modelId;

test('over MQTT, events and twin of the official client have its model', async () => {
  await receiverThere();
  const client = await deviceClient(hub, deviceId);
  await client.setOptions({ ca: readFileSync(hub.caFile, 'utf8'), modelId });
  await client.open();
  await client.sendEvent(deviceMessage('x'));
  await client.close();
  expect([await schemaOf(), await modelInTwin()]).toEqual([modelId, modelId]);
});
test('over AMQP, the model is a property of the link', async () => {
  await receiverThere();
  const connection = await bareConnection(hub);
  await putDeviceToken(hub, connection, deviceId);
  const target = `/devices/${deviceId}/messages/events`;
  const sender = connection.open_sender({ target, properties: { 'com.microsoft:model-id': modelId } });
  expect(await outcomeOf(sender, { body: 'x' })).toBe('accepted');
  expect([await schemaOf(), await modelInTwin()]).toEqual([modelId, modelId]);
});
test('a device that names no model has none', async () => {
  await receiverThere();
  const client = await deviceClient(hub, deviceId);
  await client.open();
  await client.sendEvent(deviceMessage('x'));
  await client.close();
  expect((await listening.has(1))[0]?.systemProperties).not.toHaveProperty('dt-dataschema');
  expect(await modelInTwin()).toBe('');
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
