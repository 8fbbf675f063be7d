import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import type device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import iothub from 'azure-iothub';
import { IoTHubTokenCredentials } from 'azure-iothub/dist/auth/iothub_token_credentials.js';
import { IotHubGatewayServiceAPIs } from 'azure-iothub/dist/pl/iotHubGatewayServiceAPIs.js';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { DeviceboundRules } from '../src/cloudToDevice/deviceQueues.ts';
import type { Hub } from '../src/hub.ts';
import { bounds } from '../src/limits/bounds.ts';
import { agentOf, nameOfError, serviceMessage, withSettings } from './support/clients.ts';
import { connectedDevice, subscribe } from './support/device.ts';
import { type FeedbackRecord, openDevice, openService, readFeedback, serviceForAll } from './support/eventClients.ts';
import { deviceForEach, hubForAll, hubForTest } from './support/sharedHub.ts';

// What the official service client can do besides sending.

let service: iothub.Client;
let deviceId = '';
const hub = hubForAll({ rules: { feedback: { everyMs: 50 } } });
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));

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
  test('reports a message that was abandoned too often', async () => {
    const client = await openDevice(hub, deviceId, undefined, amqp.Amqp);
    client.on('message', (message) => void client.abandon(message));
    await send('m1', 'full');
    await expect.poll(() => records().map(({ statusCode }) => statusCode)).toEqual(['DeliveryCountExceeded']);
  });
  test('comes in batches', async () => {
    await Promise.all([1, 2, 3].map((n) => send(`m${n}`, 'full', { expiryTimeUtc: 1 })));
    await expect.poll(() => records().length).toBe(3);
    expect(batches.some((batch) => batch.filter((record) => record.deviceId === deviceId).length > 1)).toBe(true);
  });
});

test('a service can subscribe to file notifications, and gets none', async () => {
  const { result } = (await service.getFileNotificationReceiver()) as unknown as {
    result: { detach(done: () => void): void };
  };
  await new Promise<void>((resolve) => result.detach(resolve));
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
  test('an unknown subprotocol is refused', async () => {
    const { request } = await import('node:https');
    const refused = request({
      agent: agentOf(hub),
      path: '/$iothub/websocket',
      headers: {
        ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
        'sec-websocket-protocol': 'chat',
      },
    });
    refused.end();
    const [response] = await once(refused, 'response');
    expect(response.statusCode).toBe(400);
    response.resume();
  });
});

describe('the protocol layer of azure-iothub', () => {
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
    const client = await openDevice(hub, deviceId, undefined, amqp.Amqp);
    client.on('message', () => undefined);
    await expect.poll(() => hub.journal.list({ kind: 'c2d-delivered', deviceId }).length).toBe(3);
    expect(await purge('service')).toMatchObject({ totalMessagesPurged: 3, deviceId });
    expect(hub.devicebound.pending(deviceId)).toEqual([]);
    expect(hub.journal.list({ kind: 'c2d-settled', deviceId })).toMatchObject(Array(3).fill({ outcome: 'purged' }));
    expect(await purge('service')).toMatchObject({ totalMessagesPurged: 0 });
  });
  test('purged messages have feedback, if it was requested', async () => {
    const records: FeedbackRecord[] = [];
    await readFeedback(service, (more) => void records.push(...more));
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
});

describe('deliveries', () => {
  // What counts as a delivery: only what the device abandons.

  const start = async (devicebound: Partial<DeviceboundRules>) => {
    const hub = await hubForTest({ devices: [{ deviceId: 'pump' }], rules: { devicebound } });
    const service = await openService(hub);
    const outcomes = () =>
      hub.journal.list({ kind: 'c2d-settled' }).map((entry) => 'outcome' in entry && entry.outcome);
    return { hub, outcomes, send: (body: string) => service.send('pump', serviceMessage(body)) };
  };

  /** The official device client over AMQP, which settles by hand; what it got. */
  const listening = async (hub: Hub) => {
    const client = await openDevice(hub, 'pump', undefined, amqp.Amqp);
    const got: device.Message[] = [];
    client.on('message', (message) => got.push(message));
    const counts = () =>
      got.map(({ transportObj }) => (transportObj as { delivery_count?: number }).delivery_count ?? 0);
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
});
