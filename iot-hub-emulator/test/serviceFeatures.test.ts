import { once } from 'node:events';
import type device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import iothub from 'azure-iothub';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { bounds } from '../src/limits/bounds.ts';
import { agentOf, deviceClient, serviceMessage, withSettings } from './support/clients.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';
import { serviceForAll } from './support/sharedService.ts';

// What the official service client can do besides sending.

let service: iothub.Client;
let deviceId = '';
const hub = hubForAll({ rules: { feedback: { everyMs: 50 } } });
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));

describe('feedback', () => {
  type Records = { originalMessageId: string; statusCode: string; deviceId: string; deviceGenerationId: string }[];
  const batches: Records[] = [];
  let receiver: Awaited<ReturnType<iothub.Client['getFeedbackReceiver']>>['result'];
  beforeAll(async () => {
    ({ result: receiver } = (await service.getFeedbackReceiver()) as never);
    receiver.on('message', (message: device.Message) => {
      batches.push(JSON.parse(message.getData().toString()));
      void receiver.complete(message as never);
    });
  });
  const records = () => batches.flat().filter((record) => record.deviceId === deviceId);
  const send = (messageId: string, ack: string, changes: object = {}) => {
    const message = serviceMessage('x', { messageId });
    Object.assign(message, { ack, ...changes });
    return service.send(deviceId, message);
  };

  test('reports a message that the device completed, if it was requested', async () => {
    const client = await deviceClient(hub, deviceId);
    onTestFinished(() => void client.close());
    client.on('message', () => undefined);
    await client.open();
    for (const ack of ['none', 'negative', 'positive', 'full']) await send(`m-${ack}`, ack);
    await expect.poll(() => records().length).toBe(2);
    const deviceGenerationId = hub.registry.get(deviceId)?.generationId;
    const success = { statusCode: 'Success', description: 'Success', deviceId, deviceGenerationId };
    expect(records()).toMatchObject([
      { ...success, originalMessageId: 'm-positive', enqueuedTimeUtc: expect.stringMatching(/^\d{4}-.*Z$/) },
      { ...success, originalMessageId: 'm-full' },
    ]);
  });
  test('reports a message that the device rejected, if it was requested', async () => {
    const client = await deviceClient(hub, deviceId, undefined, amqp.Amqp);
    onTestFinished(() => void client.close());
    client.on('message', (message) => void client.reject(message));
    await client.open();
    for (const ack of ['none', 'negative', 'positive', 'full']) await send(`m-${ack}`, ack);
    await expect
      .poll(() => records().map(({ originalMessageId, statusCode }) => [originalMessageId, statusCode]))
      .toEqual([
        ['m-negative', 'Rejected'],
        ['m-full', 'Rejected'],
      ]);
  });
  test('reports a message that expired before a device took it', async () => {
    await send('m1', 'full', { expiryTimeUtc: Date.now() - 1 });
    await expect.poll(() => records().map(({ statusCode }) => statusCode)).toEqual(['Expired']);
  });
  test('reports a message that was abandoned too often', async () => {
    const client = await deviceClient(hub, deviceId, undefined, amqp.Amqp);
    onTestFinished(() => void client.close());
    client.on('message', (message) => void client.abandon(message));
    await client.open();
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
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
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
