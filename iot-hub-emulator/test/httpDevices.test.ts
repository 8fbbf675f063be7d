import { X509Certificate } from 'node:crypto';
import device from 'azure-iot-device';
import http from 'azure-iot-device-http';
import type iothub from 'azure-iothub';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { leadToHub } from '../src/clients/leadToHub.ts';
import { issueCertificate } from '../src/identity/issueCertificate.ts';
import { deviceToken } from './support/bare.ts';
import { agentOf, askRest, deviceMessage, serviceMessage } from './support/clients.ts';
import { serviceForAll } from './support/eventClients.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';

// Devices over HTTPS: with the official client, and without one.

let service: iothub.Client;
let deviceId = '';
let lead = 0;
const hub = hubForAll({ partitions: 1, now: () => Date.now() + lead });
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));
beforeEach(() => (lead = 0));

async function open(): Promise<device.Client> {
  const client = device.Client.fromConnectionString(hub.deviceConnectionString(deviceId), http.Http);
  onTestFinished(() => void client.close());
  await leadToHub(hub, client);
  await client.open();
  return client;
}

type Options = Parameters<typeof askRest>[3] & {};

const ask = (method: string, path: string, { headers, ...more }: Options = {}) =>
  askRest(hub, method, `/devices/${deviceId}/messages/${path}?api-version=2021-04-12`, {
    headers: { authorization: deviceToken(hub, deviceId), ...headers },
    ...more,
  });

const last = () => hub.journal.list({ kind: 'd2c', deviceId });
const queue = (body: string, properties: Record<string, string> = {}) =>
  hub.devicebound.enqueue(deviceId, { system: { messageId: body }, properties, body: Buffer.from(body) }, 'service');

describe('the official client', () => {
  test('sends messages with properties, without being connected', async () => {
    const client = await open();
    const message = deviceMessage(Buffer.from([0, 255]), { msgType: 'action' });
    const system = { messageId: 'm1', correlationId: 'c1', contentType: 'application/json', contentEncoding: 'utf-8' };
    await client.sendEvent(Object.assign(message, system));
    expect(last()).toMatchObject([
      { deviceId, system, properties: { msgType: 'action' }, body: Buffer.from([0, 255]) },
    ]);
    expect(hub.isConnected(deviceId)).toBe(false);
  });
  test('sends a batch in whole', async () => {
    await (await open()).sendEventBatch([deviceMessage('one', { a: '1' }), deviceMessage('two')]);
    expect(last().map(({ body, properties }) => [body.toString(), { ...properties }])).toEqual([
      ['one', { a: '1' }],
      ['two', {}],
    ]);
  });
  test('receives messages, and completes, rejects or abandons them', async () => {
    await service.send(deviceId, serviceMessage('one', { messageId: 'm1', properties: { a: 'b' } }));
    const client = await open();
    const messages: device.Message[] = [];
    let came: () => unknown = () => undefined;
    client.on('message', (message) => {
      messages.push(message);
      came();
    });
    const has = (count: number) =>
      new Promise<void>((resolve) => {
        came = () => messages.length >= count && resolve();
        came();
      });
    await has(1);
    expect([messages[0]?.messageId, messages[0]?.getData().toString()]).toEqual(['m1', 'one']);
    expect(messages[0]?.properties.getItem(0)).toEqual({ key: 'iothub-app-a', value: 'b' });
    await client.abandon(messages[0] as device.Message);
    await has(2);
    await client.complete(messages[1] as device.Message);
    queue('two');
    await has(3);
    await client.reject(messages[2] as device.Message);
    const outcomes = hub.journal.list({ kind: 'c2d-settled', deviceId }).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['completed', 'rejected']);
  });
});

describe('a request', () => {
  test('for a message is answered with 204 when there is none, or when another request has it until its lock is lost', async () => {
    expect(await ask('GET', 'deviceBound')).toMatchObject({ status: 204, body: '' });
    queue('one');
    const first = await ask('GET', 'deviceBound');
    expect(first).toMatchObject({
      status: 200,
      body: 'one',
      headers: { 'iothub-messageid': 'one', 'iothub-deliverycount': '0' },
    });
    expect(await ask('GET', 'deviceBound')).toMatchObject({ status: 204 });
    lead = 60_001;
    const again = await ask('GET', 'deviceBound');
    expect(again).toMatchObject({ status: 200, body: 'one' });
    const tokens = [first, again].map(({ headers }) => String(headers.etag).slice(1, -1));
    expect(await ask('DELETE', `deviceBound/${tokens[0]}`)).toMatchObject({
      status: 412,
      body: expect.stringContaining('ErrorCode:DeviceMessageLockLost;'),
    });
    expect(await ask('DELETE', `deviceBound/${tokens[1]}`)).toMatchObject({ status: 204 });
    expect(hub.devicebound.pending(deviceId)).toEqual([]);
  });
  test('gets no message that no header can hold, but the one behind it', async () => {
    queue('wide', { name: 'ä€' });
    queue('next', { name: 'ä' });
    expect(await ask('GET', 'devicebound')).toMatchObject({ body: 'next', headers: { 'iothub-app-name': 'ä' } });
  });
  test('keeps the case of the names of properties, and bytes as they are', async () => {
    const headers = { 'IoTHub-App-msgType': 'x', 'dt-subject': 's', 'iothub-connection-device-id': 'other' };
    expect((await ask('POST', 'events', { headers, body: '{ "a": 1.0 }' })).status).toBe(204);
    expect(last()).toMatchObject([
      { properties: { msgType: 'x' }, system: { subject: 's' }, body: Buffer.from('{ "a": 1.0 }') },
    ]);
  });

  const batch = { 'content-type': 'application/vnd.microsoft.iothub.json; charset=utf-8' };
  test('with a batch takes bodies as text, too', async () => {
    const body = JSON.stringify([{ body: 'ä', base64Encoded: false, properties: { 'iothub-messageid': 'm' } }]);
    expect((await ask('POST', 'events', { headers: batch, body })).status).toBe(204);
    expect(last()).toMatchObject([{ system: { messageId: 'm' }, body: Buffer.from('ä') }]);
  });
  test.each<[string, number, Options]>([
    ['a batch that is no list', 400, { headers: batch, body: '{}' }],
    ['an empty batch', 400, { headers: batch, body: '[]' }],
    ['a batch of 501', 400, { headers: batch, body: JSON.stringify(Array(501).fill({ body: '' })) }],
    ['a batch with a message without a body', 400, { headers: batch, body: '[{"body":"eA=="},{}]' }],
    [
      'a batch with a property that is no text',
      400,
      { headers: batch, body: '[{"body":"","properties":{"iothub-app-a":1}}]' },
    ],
    ['more than 256 KB', 413, { body: Buffer.alloc(256 * 1024 + 1) }],
    [
      'a batch of more than 256 KB',
      413,
      {
        headers: batch,
        body: JSON.stringify(Array(2).fill({ body: 'x'.repeat(128 * 1024 + 1), base64Encoded: false })),
      },
    ],
    ['no token', 401, { headers: { authorization: '' } }],
  ])('with %s is refused with %i, and nothing of it is taken', async (_, status, options) => {
    expect((await ask('POST', 'events', options)).status).toBe(status);
    expect(last()).toEqual([]);
  });
  test('with the token of another device is refused', async () => {
    hub.registry.create(`${deviceId}-b`);
    const headers = { authorization: deviceToken(hub, `${deviceId}-b`) };
    expect((await ask('GET', 'devicebound', { headers })).status).toBe(401);
  });
  test('is believed by its certificate', async () => {
    const pump = await issueCertificate({ name: 'pump', role: 'client' });
    const authentication = {
      type: 'selfSigned',
      primaryThumbprint: new X509Certificate(pump.cert).fingerprint256.replaceAll(':', ''),
    } as const;
    hub.registry.update(deviceId, { authentication });
    const none = { headers: { authorization: '' } };
    expect((await ask('POST', 'events', none)).status).toBe(401);
    const { ca } = agentOf(hub).options;
    expect((await ask('POST', 'events', { ...none, tls: { ca, cert: pump.cert, key: pump.key } })).status).toBe(204);
    expect(last()).toHaveLength(1);
  });
});
