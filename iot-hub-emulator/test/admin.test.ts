import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { describe, expect, test } from 'vitest';
import { signSas } from '../src/identity/sas.ts';
import { eventReceiver } from './support/bare.ts';
import { connectedDevice, publishPacket } from './support/device.ts';
import { hubForAll } from './support/sharedHub.ts';

const hub = hubForAll({ devices: [{ deviceId: 'pump-1' }] });

const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(hub.adminUrl + path, init);
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
};
/** Of a request to the registry with this token. */
const statusFor = async (authorization: string) => {
  const url = `${hub.restUrl}/statistics/devices?api-version=2021-04-12`;
  const asked = get(url, { ca: readFileSync(hub.caFile), headers: { authorization } });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
};
const post = (body: string) => ask('/devices', { method: 'POST', body });

describe('the admin port', () => {
  test('describes the hub', async () => {
    const { status, body } = await ask('/');
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'sandbox-hub', hostName: 'localhost', ports: hub.ports, caFile: hub.caFile });
  });
  test('adds a device and returns its connection string', async () => {
    const { status, body } = await post('{"deviceId":"made-1"}');
    expect(status).toBe(201);
    expect(body).toMatchObject({ deviceId: 'made-1', primaryKey: hub.registry.get('made-1')?.primaryKey });
    expect(body.connectionString).toBe(hub.deviceConnectionString('made-1'));
    await connectedDevice(hub, 'made-1');
    const { body: list } = await ask('/devices');
    expect(list.devices).toContainEqual(expect.objectContaining({ deviceId: 'made-1', connected: true, pending: 0 }));
  });
  test('adds a device with a given key', async () => {
    const primaryKey = Buffer.alloc(32, 7).toString('base64');
    expect((await post(JSON.stringify({ deviceId: 'made-2', primaryKey }))).body.primaryKey).toBe(primaryKey);
  });
  test('lists devices without their keys', async () => {
    const { body } = await ask('/devices');
    expect(JSON.stringify(body)).not.toContain(hub.registry.get('pump-1')?.primaryKey);
  });
  test('removes a device', async () => {
    await post('{"deviceId":"made-%3"}');
    expect((await ask('/devices/made-%253', { method: 'DELETE' })).status).toBe(204);
    expect(hub.registry.get('made-%3')).toBeUndefined();
    expect((await ask('/devices/made-%253', { method: 'DELETE' })).status).toBe(404);
  });
  test('renews one key of a policy: its tokens are refused from now on, those of the other key are not', async () => {
    const [first, second] = (['primaryKey', 'secondaryKey'] as const).map((key) =>
      hub.connectionString('registryRead', key),
    );
    const query = (connectionString = '') => {
      const [, key = ''] = /SharedAccessKey=(.*)$/.exec(connectionString) ?? [];
      return statusFor(signSas('localhost', key, 'base64', Math.floor(Date.now() / 1000) + 60, 'registryRead'));
    };
    expect([await query(first), await query(second)]).toEqual([200, 200]);
    const renew = (policy: string, body: string) => ask(`/policies/${policy}/keys`, { method: 'POST', body });
    const { status, body } = await renew('registryRead', '{"key":"secondaryKey"}');
    expect([status, body]).toEqual([200, expect.objectContaining({ policy: 'registryRead', key: 'secondaryKey' })]);
    expect(body.connectionString).toBe(hub.connectionString('registryRead', 'secondaryKey'));
    expect(body.eventsConnectionString).toBe(hub.eventHubConnectionString('registryRead', 'secondaryKey'));
    expect([await query(first), await query(second), await query(body.connectionString)]).toEqual([200, 401, 200]);
    expect(await renew('nobody', '{}')).toEqual({ status: 404, body: { error: 'The hub has no policy nobody.' } });
    expect((await renew('registryRead', '{"key":"third"}')).status).toBe(400);
  });
  test('sends a message to a device, as a service does', async () => {
    const send = (id: string, body: object) =>
      ask(`/devices/${id}/messages`, { method: 'POST', body: JSON.stringify(body) });
    await post('{"deviceId":"made-4"}');
    const system = { messageId: 'm1', contentType: 'text/plain' };
    const message = { ...system, body: 'ü', ack: 'full', properties: { colour: 'red' } };
    expect(await send('made-4', message)).toEqual({ status: 201, body: { messageId: 'm1', pending: 1 } });
    const { body: second } = await send('made-4', { base64: '/w==' });
    expect(second).toEqual({ messageId: expect.stringMatching(/^[0-9a-f-]{36}$/), pending: 2 });
    expect(hub.devicebound.pending('made-4')).toMatchObject([
      { system, properties: { colour: 'red', 'iothub-ack': 'full' }, body: Buffer.from('ü') },
      { body: Buffer.from([0xff]) },
    ]);
    expect(hub.journal.list({ kind: 'c2d', deviceId: 'made-4' })[0]).toMatchObject({ policy: 'admin port' });
    expect((await send('nobody', {})).status).toBe(404);
    expect((await send('made-4', { body: 'x'.repeat(65_537) })).status).toBe(400);
    expect(await send('made-4', { text: 'x', ack: 'maybe' })).toEqual({
      status: 400,
      body: { error: 'That is no message: ack takes none, positive, negative, full; a message has no field text.' },
    });
    for (let i = 3; i <= 50; i += 1) expect((await send('made-4', {})).status).toBe(201);
    expect(await send('made-4', {})).toMatchObject({ status: 429, body: { error: expect.stringContaining('403004') } });
  });
  test('lists who is connected, over which protocol, and with which links', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    const { connection } = await eventReceiver(hub, { credit: 7 });
    const { body } = await ask('/connections');
    expect(body.connections).toContainEqual({
      ...{ id: expect.any(Number), protocol: 'mqtt', kind: 'device', deviceId: 'pump-1', links: [] },
      since: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const found = body.connections.find(({ kind }: { kind: string }) => kind === 'events');
    expect(found).toMatchObject({
      protocol: 'amqp',
      client: connection.container.id,
      links: [
        { direction: 'out', address: 'sandbox-hub/ConsumerGroups/$Default/Partitions/0', credit: 7, transfers: 0 },
      ],
    });
    await hub.faults.strike({ kind: 'drop', connection: found.id });
    const left = async () => (await ask('/connections')).body.connections.map(({ id }: { id: number }) => id);
    await expect.poll(left).not.toContain(found.id);
    device.socket.destroy();
  });
  test('shows the journal after a position, and of one device', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket('devices/pump-1/messages/events/a=1', 'hello'));
    await device.next('puback');
    device.socket.destroy();
    const { body } = await ask('/journal?deviceId=pump-1&kind=d2c');
    const sent = { kind: 'd2c', deviceId: 'pump-1', properties: { a: '1' }, body: 'aGVsbG8=', text: 'hello' };
    expect(body.entries).toMatchObject([sent]);
    const since = body.entries[0].position;
    expect(body.last).toBe(hub.journal.last);
    expect((await ask(`/journal?deviceId=pump-1&kind=d2c&since=${since}`)).body.entries).toEqual([]);
  });
  test('shows the sequence numbers of the partitions', async () => {
    const { body } = await ask('/partitions');
    expect(body.partitions.map(({ id }: { id: string }) => id)).toEqual(['0', '1', '2', '3']);
  });
  test.each([
    ['a body that is not JSON', '{', 400, 'The body is not JSON.'],
    ['a body without an id', '{}', 400, expect.stringContaining('"deviceId"')],
    ['null', 'null', 400, expect.stringContaining('"deviceId"')],
    ['an id that is not allowed', '{"deviceId":"a/b"}', 400, expect.stringContaining('A device id has')],
    ['a key that is none', '{"deviceId":"a","primaryKey":"x"}', 400, expect.stringContaining('base64')],
    ['an id that is taken', '{"deviceId":"pump-1"}', 409, 'A device of this id exists already.'],
    ['a body of 513 KB', JSON.stringify({ deviceId: 'a'.repeat(525_312) }), 400, 'The body is larger than 512 KB.'],
  ])('refuses %s with the reason', async (_, body, status, error) =>
    expect(await post(body)).toEqual({ status, body: { error } }),
  );
  test.each(['/nothing', '/devices/a/b', '/journal/x'])('answers 404 at %s', async (path) =>
    expect((await ask(path)).status).toBe(404),
  );
  test.each(['since=x', 'since=-1', 'kind=x'])('refuses a journal query with %s', async (query) =>
    expect((await ask(`/journal?${query}`)).status).toBe(400),
  );
  test('ends a fault after so many seconds', async () => {
    const { body } = await ask('/faults?seconds=1', { method: 'POST', body: '{"kind":"no-events","partition":"9"}' });
    const listed = await ask('/faults');
    expect(listed.body.faults).toMatchObject([{ id: body.id, until: expect.stringMatching(/^\d{4}-.*Z$/) }]);
    await expect.poll(async () => (await ask('/faults')).body.faults, { timeout: 60_000 }).toEqual([]);
  });
  test('describes each kind of fault as JSON Schema, too', async () => {
    const { body } = await ask('/faults/kinds');
    const settle = body.kinds.find(({ kind }: { kind: string }) => kind === 'settle');
    expect(settle.schema).toMatchObject({ required: ['kind', 'answer'], properties: { ms: { type: 'integer' } } });
  });
  test('shows the twin of a device, and what waits for it, without bodies', async () => {
    await post('{"deviceId":"absent-1"}');
    const waiting = { system: { messageId: 'm-1' }, properties: { a: 'b' } };
    hub.devicebound.enqueue('absent-1', { ...waiting, body: Buffer.from('secret') }, 'p');
    const { messages } = (await ask('/devices/absent-1/messages')).body;
    expect(messages).toEqual([{ ...waiting, system: expect.objectContaining(waiting.system), bytes: 6 }]);
    expect((await ask('/devices/absent-1/twin')).body).toMatchObject({ tags: {}, desired: { $version: 1 } });
  });
  test('refuses web pages', async () =>
    expect((await ask('/devices', { headers: { origin: 'https://example.com' } })).status).toBe(403));
});
