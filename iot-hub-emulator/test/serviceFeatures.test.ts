import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import amqp from 'azure-iot-device-amqp';
import iothub from 'azure-iothub';
import { IoTHubTokenCredentials } from 'azure-iothub/dist/auth/iothub_token_credentials.js';
import { IotHubGatewayServiceAPIs } from 'azure-iothub/dist/pl/iotHubGatewayServiceAPIs.js';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { bounds } from '../src/limits/bounds.ts';
import { agentOf, nameOfError, serviceMessage, withSettings } from './support/clients.ts';
import { connectedDevice } from './support/device.ts';
import { type FeedbackRecord, openDevice, readFeedback, serviceForAll } from './support/eventClients.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';

// What the official service client can do besides sending.

let service: iothub.Client;
let deviceId = '';
const hub = hubForAll({ rules: { feedback: { everyMs: 50 } } });
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));

const gateway = (policy: string): IotHubGatewayServiceAPIs => {
  const credentials = new IoTHubTokenCredentials(hub.connectionString(policy));
  const https = new Agent({ ca: readFileSync(hub.caFile, 'utf8') });
  const agentSettings = { http: https, https };
  return new IotHubGatewayServiceAPIs(credentials, { baseUri: hub.restUrl, agentSettings, noRetryPolicy: true });
};
const purge = (policy: string, id = deviceId) =>
  gateway(policy).cloudToDeviceMessages.purgeCloudToDeviceMessageQueue(id);

describe('feedback', () => {
  const batches: FeedbackRecord[][] = [];
  beforeAll(() => readFeedback(service, (records) => void batches.push(records)));
  const records = () => batches.flat().filter((record) => record.deviceId === deviceId);
  const send = (messageId: string, ack: string, changes: object = {}) => {
    const message = serviceMessage('x', { messageId });
    Object.assign(message, { ack, ...changes });
    return service.send(deviceId, message);
  };

  test.each([
    ['completed', 'complete', 'Success', ['m-positive', 'm-full']],
    ['rejected', 'reject', 'Rejected', ['m-negative', 'm-full']],
  ] as const)('reports a message that the device %s, if it was requested', async (_, settle, statusCode, ids) => {
    const client = await openDevice(hub, deviceId, undefined, amqp.Amqp);
    client.on('message', (message) => void client[settle](message));
    for (const ack of ['none', 'negative', 'positive', 'full']) await send(`m-${ack}`, ack);
    await expect.poll(() => records().length).toBe(2);
    const deviceGenerationId = hub.registry.get(deviceId)?.generationId;
    const told = { statusCode, description: statusCode, deviceId, deviceGenerationId };
    const enqueuedTimeUtc = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(records()).toMatchObject(ids.map((originalMessageId) => ({ ...told, originalMessageId, enqueuedTimeUtc })));
  });
  test('reports a message that expired before a device took it', async () => {
    await send('m1', 'full', { expiryTimeUtc: Date.now() - 1 });
    await expect.poll(() => records().map(({ statusCode }) => statusCode)).toEqual(['Expired']);
  });
  test('reports a message that was abandoned too often: each time is counted', async () => {
    const client = await openDevice(hub, deviceId, undefined, amqp.Amqp);
    const counts: number[] = [];
    client.on('message', (message) => {
      counts.push((message.transportObj as { delivery_count?: number }).delivery_count ?? 0);
      void client.abandon(message);
    });
    await send('m1', 'full');
    await expect.poll(() => records().map(({ statusCode }) => statusCode)).toEqual(['DeliveryCountExceeded']);
    expect(counts).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
  test('comes in batches', async () => {
    await Promise.all([1, 2, 3].map((n) => send(`m${n}`, 'full', { expiryTimeUtc: 1 })));
    await expect.poll(() => records().length).toBe(3);
    expect(batches.some((batch) => batch.filter((record) => record.deviceId === deviceId).length > 1)).toBe(true);
  });
  test('reports purged messages, if it was requested', async () => {
    for (const ack of ['none', 'positive', 'negative', 'full']) await send(ack, ack);
    await purge('iothubowner');
    await expect.poll(() => records().length).toBe(2);
    expect(records()).toMatchObject([
      { originalMessageId: 'negative', statusCode: 'Purged', description: 'Purged' },
      { originalMessageId: 'full', statusCode: 'Purged' },
    ]);
  });
});

describe('over WebSockets,', () => {
  test('the service client sends and receives feedback', async () => {
    const atDefaultPort = hub.serviceConnectionString.replace(/localhost:\d+/, 'localhost');
    // its address is fixed to port 443, and it takes no agent: only the connection itself is led elsewhere
    const transport = withSettings(iothub.AmqpWs, { sslOptions: { agent: agentOf(hub) } });
    const client = iothub.Client.fromConnectionString(atDefaultPort, transport);
    onTestFinished(() => void client.close());
    await client.open();
    await client.send(deviceId, serviceMessage('through a WebSocket'));
    expect(hub.devicebound.pending(deviceId)).toMatchObject([{ body: Buffer.from('through a WebSocket') }]);
  });
  test('a message over the limit ends the connection', async () => {
    const socket = new WebSocket('wss://localhost/$iothub/websocket', 'mqtt', { agent: agentOf(hub) });
    socket.on('error', () => undefined);
    await once(socket, 'open');
    socket.send(Buffer.alloc(bounds.webSocketMessage + 1));
    expect(await once(socket, 'close')).toMatchObject([1009, expect.anything()]);
  });
  test('a connection that breaks is gone', async () => {
    const newcomers = () => hub.counters().connections.unknown;
    expect(newcomers()).toBe(0);
    const socket = new WebSocket('wss://localhost/$servicebus/websocket', 'AMQPWSB10', { agent: agentOf(hub) });
    await once(socket, 'open');
    await expect.poll(newcomers).toBe(1);
    socket.terminate();
    await expect.poll(newcomers).toBe(0);
  });
});

describe('the protocol layer of azure-iothub', () => {
  // What the protocol layer of azure-iothub offers beside its clients: purging a queue, and statistics.

  const send = (messageId: string, more: object = {}) =>
    service.send(deviceId, Object.assign(serviceMessage('x', { messageId }), more));

  test('a purge empties a queue, delivered messages included, and returns their number', async () => {
    for (const id of ['1', '2', '3']) await send(id);
    const client = await openDevice(hub, deviceId, undefined, amqp.Amqp);
    client.on('message', () => undefined);
    await expect.poll(() => hub.journal.list({ kind: 'c2d-delivered', deviceId }).length).toBe(3);
    expect(await purge('service')).toMatchObject({ totalMessagesPurged: 3, deviceId });
    expect(hub.devicebound.pending(deviceId)).toEqual([]);
    expect(hub.journal.list({ kind: 'c2d-settled', deviceId })).toMatchObject(Array(3).fill({ outcome: 'purged' }));
    expect(await purge('service')).toMatchObject({ totalMessagesPurged: 0 });
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
    const refused = { condition: 'com.microsoft:argument-error', description: expect.stringContaining('403009') };
    expect(entry).toMatchObject({ policy: 'service', refused });
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
});
