import { readFileSync } from 'node:fs';
import device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import type iothub from 'azure-iothub';
import { describe, expect, onTestFinished, test } from 'vitest';
import { agentOf, called, deviceClient, deviceMessage, registryClient, serviceMessage } from './support/clients.ts';
import { listenInTest } from './support/eventClients.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';
import { serviceForAll } from './support/sharedService.ts';

// Cases with the names that the suites of azure-iot-sdk-node give them; docs/clients.md maps them.

let service: iothub.Client;
let deviceId = '';
const hub = hubForAll({ partitions: 1 });
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));

const transports = {
  Amqp: { transport: amqp.Amqp },
  AmqpWs: { transport: amqp.AmqpWs, agentFor: 'amqp' },
  Mqtt: { transport: mqtt.Mqtt },
  MqttWs: { transport: mqtt.MqttWs, agentFor: 'mqtt' },
} as const;
type Name = keyof typeof transports;

/** The device's client, open. WebSockets go to port 443, but for an agent. */
const openOver = async (name: Name, bySas = false): Promise<device.Client> => {
  const chosen = transports[name];
  const text = hub.deviceConnectionString(deviceId);
  const address = 'agentFor' in chosen ? text.replace(/localhost:\d+/, 'localhost') : text;
  const client = bySas
    ? device.Client.fromSharedAccessSignature(newSas(address), chosen.transport)
    : await deviceClient(hub, deviceId, address, chosen.transport);
  await client.setOptions({ ca: readFileSync(hub.caFile, 'utf8') });
  if ('agentFor' in chosen) await client.setOptions({ [chosen.agentFor]: { webSocketAgent: agentOf(hub) } });
  onTestFinished(() => void client.close());
  await client.open();
  return client;
};

/** A token of the device for half a minute. */
const newSas = (connectionString = hub.deviceConnectionString(deviceId)): string => {
  const [, host = ''] = /HostName=([^;]*)/.exec(connectionString) ?? [];
  const key = hub.registry.get(deviceId)?.primaryKey ?? '';
  return device.SharedAccessSignature.create(host, deviceId, key, Math.ceil(Date.now() / 1000) + 30).toString();
};

/** The messages that a client gets; it listens as long as it is open. */
const messagesOf = (client: device.Client) => {
  const got: device.Message[] = [];
  client.on('message', (message: device.Message) => got.push(message));
  return async (count: number): Promise<device.Message> => {
    await expect.poll(() => got.length).toBeGreaterThanOrEqual(count);
    return got[count - 1] as device.Message;
  };
};

const everyTransport: Name[] = ['Amqp', 'AmqpWs', 'Mqtt', 'MqttWs'];

describe.each(everyTransport)('C2D Over %s', (name) => {
  test('can receive a C2D message', async () => {
    const client = await openOver(name);
    const next = messagesOf(client);
    await service.send(deviceId, serviceMessage('testMessage', { messageId: 'an-id' }));
    const message = await next(1);
    expect([message.messageId, message.getData().toString()]).toEqual(['an-id', 'testMessage']);
    await client.complete(message);
    await expect.poll(() => hub.devicebound.pending(deviceId)).toEqual([]);
  });
});

describe.each(everyTransport)('D2C Over %s', (name) => {
  test('can send a D2C message', async () => {
    const listening = listenInTest(hub, { startPosition: { enqueuedOn: Date.now() - 5_000 } });
    const client = await openOver(name);
    const message = deviceMessage('testMessage');
    message.messageId = deviceId;
    await client.sendEvent(message);
    await expect.poll(() => listening.events.map(({ messageId }) => messageId)).toContain(deviceId);
  });
});

describe.each(everyTransport)('Device Methods Over %s', (name) => {
  test.each([null, '', 'foo', { k1: 'v1' }, {}].map((payload) => ({ payload, text: JSON.stringify(payload) })))(
    'device can receive a method call with a payload of $text and send a response',
    async ({ payload }) => {
      const client = await openOver(name);
      const requests: unknown[] = [];
      client.onDeviceMethod('testMethod', (request, response) => {
        requests.push(request.payload);
        void response.send(200, { responseKey: 'a' });
      });
      const parameters = { methodName: 'testMethod', payload, connectTimeoutInSeconds: 30 };
      const { result } = (await service.invokeDeviceMethod(deviceId, parameters)) as never;
      expect(result).toEqual({ status: 200, payload: { responseKey: 'a' } });
      expect(requests).toEqual([payload]);
    },
  );
});

describe.each(everyTransport)('Device Twin Over %s', (name) => {
  test('device can get its device twin and modify reported properties', async () => {
    const twin = await (await openOver(name)).getTwin();
    await called((done) => twin.properties.reported.update({ twinKey: 'twinValue' }, done));
    const { responseBody } = await registryClient(hub, 'iothubowner').getTwin(deviceId);
    expect(responseBody.properties.reported['twinKey']).toBe('twinValue');
  });
  test('service can modify desired properties and the device gets a notification', async () => {
    const twin = await (await openOver(name)).getTwin();
    const patches: object[] = [];
    twin.on('properties.desired', (patch: object) => patches.push(patch));
    const seen = await registryClient(hub, 'iothubowner').getTwin(deviceId);
    await seen.responseBody.update({ properties: { desired: { desiredKey: 'desiredValue' } } });
    await expect.poll(() => patches.at(-1)).toMatchObject({ desiredKey: 'desiredValue', $version: 2 });
  });
});

describe.each(['createDeviceWithSas'])('Over Amqp using %s', () => {
  test.each([
    ['completed', 'complete', 'completed'],
    ['rejected', 'reject', 'rejected'],
  ] as const)('Service sends 1 C2D message and it is re-sent until %s', async (_, settle, outcome) => {
    const client = await openOver('Amqp');
    const next = messagesOf(client);
    await service.send(deviceId, serviceMessage('a-guid'));
    await client.abandon(await next(1));
    await client[settle](await next(2));
    const settled = () => hub.journal.list({ kind: 'c2d-settled', deviceId });
    await expect.poll(settled).toMatchObject([{ outcome }]);
  });
});

describe.each(everyTransport)('Shared Access Signature renewal test over %s', (name) => {
  test('Renews SAS after connection and is still able to receive C2D messages', async () => {
    const client = await openOver(name, true);
    const next = messagesOf(client);
    await service.send(deviceId, serviceMessage('before'));
    await client.complete(await next(1));
    await client.updateSharedAccessSignature(newSas());
    await service.send(deviceId, serviceMessage('after'));
    expect((await next(2)).getData().toString()).toBe('after');
  });
  test('Renews SAS after connection and is still able to send D2C messages', async () => {
    const client = await openOver(name, true);
    await client.sendEvent(deviceMessage('before'));
    await client.updateSharedAccessSignature(newSas());
    await client.sendEvent(deviceMessage('after'));
    const bodies = hub.journal.list({ kind: 'd2c', deviceId }).map((entry) => 'body' in entry && String(entry.body));
    expect(bodies).toEqual(['before', 'after']);
  });
});
