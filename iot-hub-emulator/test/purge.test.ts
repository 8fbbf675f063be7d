import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import type device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import type iothub from 'azure-iothub';
import { IoTHubTokenCredentials } from 'azure-iothub/dist/auth/iothub_token_credentials.js';
import { IotHubGatewayServiceAPIs } from 'azure-iothub/dist/pl/iotHubGatewayServiceAPIs.js';
import { expect, onTestFinished, test } from 'vitest';
import { deviceClient, nameOfError, serviceMessage } from './support/clients.ts';
import { connectedDevice } from './support/device.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';
import { serviceForAll } from './support/sharedService.ts';

// What the protocol layer of azure-iothub offers beside its clients: purging a queue, and statistics.

let service: iothub.Client;
let deviceId = '';
const hub = hubForAll({ rules: { feedback: { everyMs: 20 } } });
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));

const gateway = (policy: string): IotHubGatewayServiceAPIs => {
  const credentials = new IoTHubTokenCredentials(hub.connectionString(policy));
  const https = new Agent({ ca: readFileSync(hub.caFile, 'utf8') });
  const agentSettings = { http: https, https };
  return new IotHubGatewayServiceAPIs(credentials, { baseUri: hub.restUrl, agentSettings, noRetryPolicy: true });
};
const send = (messageId: string, more: object = {}) =>
  service.send(deviceId, Object.assign(serviceMessage('x', { messageId }), more));
const purge = (policy: string, id = deviceId) =>
  gateway(policy).cloudToDeviceMessages.purgeCloudToDeviceMessageQueue(id);

test('a purge empties a queue, delivered messages included, and returns their number', async () => {
  for (const id of ['1', '2', '3']) await send(id);
  const client = await deviceClient(hub, deviceId, undefined, amqp.Amqp);
  onTestFinished(async () => void (await client.close().catch(() => undefined)));
  client.on('message', () => undefined);
  await client.open();
  await expect.poll(() => hub.journal.list({ kind: 'c2d-delivered', deviceId }).length).toBe(3);
  expect(await purge('service')).toMatchObject({ totalMessagesPurged: 3, deviceId });
  expect(hub.devicebound.pending(deviceId)).toEqual([]);
  expect(hub.journal.list({ kind: 'c2d-settled', deviceId })).toMatchObject(Array(3).fill({ outcome: 'purged' }));
  expect(await purge('service')).toMatchObject({ totalMessagesPurged: 0 });
});

test('purged messages have feedback, if it was requested', async () => {
  const records: { originalMessageId: string; statusCode: string; deviceId: string }[] = [];
  const { result: receiver } = (await service.getFeedbackReceiver()) as unknown as {
    result: iothub.Client.ServiceReceiver;
  };
  receiver.on('message', (message: device.Message) => {
    records.push(...JSON.parse(message.getData().toString()));
    void receiver.complete(message as never);
  });
  for (const ack of ['none', 'positive', 'negative', 'full']) await send(ack, { ack });
  await purge('iothubowner');
  const own = () => records.filter((record) => record.deviceId === deviceId);
  await expect.poll(() => own().length).toBe(2);
  expect(own()).toMatchObject([
    { originalMessageId: 'negative', statusCode: 'Purged', description: 'Purged' },
    { originalMessageId: 'full', statusCode: 'Purged' },
  ]);
});

test('a purge requires a known device and the right serviceConnect', async () => {
  await expect(purge('service', 'nobody')).rejects.toMatchObject({ statusCode: 404 });
  await expect(purge('registryRead')).rejects.toMatchObject({ statusCode: 401 });
});

test('a message that expires more than two days ahead is refused', async () => {
  const day = 24 * 3600 * 1000;
  await send('within', { expiryTimeUtc: Date.now() + 2 * day - 60_000 });
  expect(await nameOfError(send('beyond', { expiryTimeUtc: Date.now() + 2 * day + 60_000 }))).toBe('ArgumentError');
  const [entry] = hub.journal.list({ kind: 'c2d', deviceId }).slice(-1);
  expect(entry).toMatchObject({ refused: { description: expect.stringContaining('403009') } });
});

test('statistics count devices, and those that are connected', async () => {
  hub.registry.create(`${deviceId}-off`, { status: 'disabled' });
  hub.registry.create(deviceId, { moduleId: 'm1' });
  const { statistics } = gateway('iothubowner');
  const before = await statistics.getServiceStatistics();
  await connectedDevice(hub, deviceId);
  const after = await statistics.getServiceStatistics();
  expect((after.connectedDeviceCount ?? 0) - (before.connectedDeviceCount ?? 0)).toBe(1);
  const devices = hub.registry.list();
  expect(await statistics.getDeviceStatistics()).toMatchObject({
    totalDeviceCount: devices.length,
    enabledDeviceCount: devices.filter(({ status }) => status === 'enabled').length,
    disabledDeviceCount: devices.filter(({ status }) => status === 'disabled').length,
  });
});
