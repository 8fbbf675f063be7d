import { once } from 'node:events';
import device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import iothub from 'azure-iothub';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { agentOf, deviceClient, deviceMessage, nextMessage, serviceClient, serviceMessage } from './support/clients.ts';
import { connectedDevice } from './support/device.ts';
import { eventually } from './support/eventually.ts';
import { freshHub } from './support/hub.ts';

// What the official service client can do besides sending.

let hub: Awaited<ReturnType<typeof freshHub>>;
let service: iothub.Client;
let deviceId = '';
let count = 0;
beforeAll(async () => {
  hub = await freshHub({ rules: { feedback: { everyMs: 50 } } });
  service = serviceClient(hub);
  await service.open();
});
beforeEach(() => {
  deviceId = `pump-${count++}`;
  hub.registry.create(deviceId);
});
afterAll(async () => {
  await service.close();
  await hub.stop();
});

describe('a direct method', () => {
  const failure = (call: object = {}, to = deviceId, moduleId?: string) => {
    const parameters = { methodName: 'start', ...call };
    const invoked = moduleId
      ? service.invokeDeviceMethod(to, moduleId, parameters)
      : service.invokeDeviceMethod(to, parameters);
    return invoked.then(
      () => undefined,
      (error: Error & { response?: { statusCode: number }; responseBody?: string }) => ({
        name: error.constructor.name,
        status: error.response?.statusCode,
        code: /ErrorCode:(\w+);/.exec(error.responseBody ?? '')?.[1],
      }),
    );
  };

  test('to a device that is not there is not found', async () => {
    expect(await failure({}, 'nobody')).toEqual({ name: 'DeviceNotFoundError', status: 404, code: 'DeviceNotFound' });
    expect(await failure({}, deviceId, 'nothing')).toMatchObject({ status: 404, code: 'DeviceNotFound' });
  });
  test('to a device that is not connected is refused at once', async () => {
    expect(await failure()).toMatchObject({ status: 404, code: 'DeviceNotOnline' });
  });
  test('to a device that does not connect in time is refused', async () => {
    expect(await failure({ connectTimeoutInSeconds: 1 })).toMatchObject({ status: 404, code: 'DeviceNotOnline' });
  });
  test('waits for a device to connect', async () => {
    const call = { methodName: 'start', connectTimeoutInSeconds: 20 };
    const answer = service.invokeDeviceMethod(deviceId, call) as Promise<{ result: unknown }>;
    const client = await deviceClient(hub, deviceId);
    onTestFinished(() => void client.close());
    client.onDeviceMethod('start', (_request, response) => void response.send(200, 'late'));
    await client.open();
    expect((await answer).result).toEqual({ status: 200, payload: 'late' });
  });
  test('that the device does not answer in time has timed out', async () => {
    // the hub does not answer in less than five seconds, which is too long here
    const device = await connectedDevice(hub, deviceId);
    device.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '$iothub/methods/POST/#', qos: 0 }] });
    await device.next('suback');
    const call = { methodName: 'start', payload: null, responseTimeoutMs: 20, connectTimeoutMs: 0 };
    await expect(hub.methods.invoke(deviceId, call)).rejects.toMatchObject({ condition: 'com.microsoft:timeout' });
    expect((await device.next('publish')).topic).toMatch(/^\$iothub\/methods\/POST\/start\/\?\$rid=./);
  });
  test('that another device answers is not answered', async () => {
    hub.registry.create(`${deviceId}-other`);
    const [own, other] = [await connectedDevice(hub, deviceId), await connectedDevice(hub, `${deviceId}-other`)];
    own.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '$iothub/methods/POST/#', qos: 0 }] });
    await own.next('suback');
    const answer = service.invokeDeviceMethod(deviceId, { methodName: 'start' }) as Promise<{ result: unknown }>;
    const rid = /rid=(.*)/.exec((await own.next('publish')).topic)?.[1];
    const reply = (status: number) =>
      ({
        cmd: 'publish',
        topic: `$iothub/methods/res/${status}/?$rid=${rid}`,
        payload: '""',
        qos: 1,
        messageId: 5,
      }) as never;
    other.send(reply(500));
    await other.next('puback');
    own.send(reply(200));
    expect((await answer).result).toEqual({ status: 200, payload: '' });
  });
  test('that the device answers with what is no JSON is a bad response', async () => {
    const device = await connectedDevice(hub, deviceId);
    device.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '$iothub/methods/POST/#', qos: 0 }] });
    await device.next('suback');
    const failed = failure();
    const rid = /rid=(.*)/.exec((await device.next('publish')).topic)?.[1];
    device.send({ cmd: 'publish', topic: `$iothub/methods/res/200/?$rid=${rid}`, payload: '{', qos: 0 } as never);
    expect(await failed).toEqual({ name: 'BadDeviceResponseError', status: 502, code: 'BadDeviceResponse' });
  });
  test.each([
    ['a name that a topic cannot have', { methodName: 'a/b' }],
    ['a time-out of four seconds', { responseTimeoutInSeconds: 4 }],
    ['a time-out of 301 seconds', { responseTimeoutInSeconds: 301 }],
    ['a payload over 128 KB', { payload: 'x'.repeat(128 * 1024) }],
  ])('with %s is refused', async (_, call) => {
    expect(await failure(call)).toMatchObject({ name: 'ArgumentError', status: 400 });
  });
  test('is in the journal, with what became of it', async () => {
    await failure();
    expect(hub.journal.list({ kind: 'method', deviceId })).toMatchObject([
      { methodName: 'start', refused: 'com.microsoft:device-not-online' },
    ]);
  });
});

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

  test('tells of a message that the device completed, if it was asked for', async () => {
    const client = await deviceClient(hub, deviceId);
    onTestFinished(() => void client.close());
    client.on('message', () => undefined);
    await client.open();
    for (const ack of ['none', 'negative', 'positive', 'full']) await send(`m-${ack}`, ack);
    await eventually(() => records().length).toBe(2);
    const deviceGenerationId = hub.registry.get(deviceId)?.generationId;
    const success = { statusCode: 'Success', description: 'Success', deviceId, deviceGenerationId };
    expect(records()).toMatchObject([
      { ...success, originalMessageId: 'm-positive', enqueuedTimeUtc: expect.stringMatching(/^\d{4}-.*Z$/) },
      { ...success, originalMessageId: 'm-full' },
    ]);
  });
  test('tells of a message that the device rejected, if it was asked for', async () => {
    const client = await deviceClient(hub, deviceId, undefined, amqp.Amqp);
    onTestFinished(() => void client.close());
    client.on('message', (message) => void client.reject(message));
    await client.open();
    for (const ack of ['none', 'negative', 'positive', 'full']) await send(`m-${ack}`, ack);
    await eventually(() =>
      records().map(({ originalMessageId, statusCode }) => [originalMessageId, statusCode]),
    ).toEqual([
      ['m-negative', 'Rejected'],
      ['m-full', 'Rejected'],
    ]);
  });
  test('tells of a message that was too old before a device took it', async () => {
    await send('m1', 'full', { expiryTimeUtc: Date.now() - 1 });
    await eventually(() => records().map(({ statusCode }) => statusCode)).toEqual(['Expired']);
  });
  test('tells of a message that was delivered too often', async () => {
    const client = await deviceClient(hub, deviceId, undefined, amqp.Amqp);
    onTestFinished(() => void client.close());
    client.on('message', (message) => void client.abandon(message));
    await client.open();
    await send('m1', 'full');
    await eventually(() => records().map(({ statusCode }) => statusCode)).toEqual(['DeliveryCountExceeded']);
  });
  test('comes in batches', async () => {
    await Promise.all([1, 2, 3].map((n) => send(`m${n}`, 'full', { expiryTimeUtc: 1 })));
    await eventually(() => records().length).toBe(3);
    expect(batches.find((batch) => batch.some((record) => record.deviceId === deviceId))?.length).toBeGreaterThan(1);
  });
});

test('notifications of files can be listened to, and there are none', async () => {
  const { result } = (await service.getFileNotificationReceiver()) as unknown as {
    result: { detach(done: () => void): void };
  };
  await new Promise<void>((resolve) => result.detach(resolve));
});

describe('over WebSockets', () => {
  const atDefaultPort = (connectionString: string) => connectionString.replace(/localhost:\d+/, 'localhost');

  test('the service client sends and receives feedback', async () => {
    // its address is fixed to port 443, and it takes no agent: only the connection itself is led elsewhere
    class Led extends iothub.AmqpWs {
      constructor(config: iothub.Client.TransportConfigOptions) {
        super(config);
        const base = Reflect.get(this, '_amqp') as { connect(config: object, done: () => void): void };
        const connect = base.connect.bind(base);
        base.connect = (settings, done) => connect({ ...settings, sslOptions: { agent: agentOf(hub) } }, done);
      }
    }
    const client = iothub.Client.fromConnectionString(atDefaultPort(hub.serviceConnectionString), Led);
    onTestFinished(() => void client.close());
    await client.open();
    await client.send(deviceId, serviceMessage('through a WebSocket'));
    expect(hub.devicebound.pending(deviceId)).toMatchObject([{ body: Buffer.from('through a WebSocket') }]);
  });
  test.each([
    ['AMQP', amqp.AmqpWs, 'amqp'],
    ['MQTT', mqtt.MqttWs, 'mqtt'],
  ])('a device sends and receives over %s', async (_, transport, option) => {
    const text = atDefaultPort(hub.deviceConnectionString(deviceId));
    const client = device.Client.fromConnectionString(text, transport);
    onTestFinished(() => void client.close());
    await client.setOptions({ [option]: { webSocketAgent: agentOf(hub) } });
    const got = nextMessage(client);
    await client.open();
    await client.sendEvent(deviceMessage('up'));
    await service.send(deviceId, serviceMessage('down'));
    expect((await got).getData().toString()).toBe('down');
    expect(hub.journal.list({ kind: 'd2c', deviceId })).toMatchObject([{ body: Buffer.from('up') }]);
  });
  test('a protocol that is none of them is refused', async () => {
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
