import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type AdminClient, createAdminClient, operations } from 'iot-hub-emulator/admin';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { createHttpServer } from '../src/http/httpServer.ts';
import type { Hub } from '../src/hub.ts';
import { issueCertificate } from '../src/identity/issueCertificate.ts';
import { signSas } from '../src/identity/sas.ts';
import { createJournal } from '../src/journal/journal.ts';
import { parseQuery } from '../src/journal/read.ts';
import { streamJournal } from '../src/journal/stream.ts';
import { append, eventReceiver, outcomeOf, serviceLink, toDevice } from './support/bare.ts';
import { askRest } from './support/clients.ts';
import { connectedDevice, publishPacket } from './support/device.ts';
import { portForTest, soon } from './support/fixtures.ts';
import { hubForAll, hubForFaults, hubForTest } from './support/sharedHub.ts';

const hub = hubForAll({ devices: [{ deviceId: 'pump-1' }] });

type Operation = Readonly<{ responses: Record<string, { $ref?: string; content?: object }> }>;
type Contract = Readonly<{ paths: Record<string, Record<string, Operation>> }>;
const contract: Contract = parse(readFileSync('iot-hub-emulator/docs/admin.openapi.yaml', 'utf8'));
const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } }).addSchema(contract, 'contract');
const pointer = (...names: string[]) =>
  `contract#/${names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

/** Asks a hub, and holds the answer against the contract of its path, method and status. A text as body is sent as it is. */
const asking =
  (hub: Hub) =>
  async (verb: string, at: string, sent?: unknown, headers: Record<string, string> = {}) => {
    const body = sent === undefined || typeof sent === 'string' ? sent : JSON.stringify(sent);
    const response = await fetch(hub.adminUrl + at, { method: verb, headers, ...(body !== undefined && { body }) });
    const [text, { status }, method] = [await response.text(), response, verb.toLowerCase()];
    const paths = Object.keys(contract.paths).filter((path) =>
      new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}(\\?|$)`).test(at),
    );
    const path = paths.toSorted((one, other) => one.split('{').length - other.split('{').length)[0] ?? '';
    const documented = contract.paths[path]?.[method]?.responses[status];
    if (path !== '' && status !== 403) expect(documented, `${verb} ${path} answers ${status}`).toBeDefined();
    const content = ['content', 'application/json', 'schema'];
    const schema = documented?.$ref
      ? pointer('components', 'responses', 'refused', ...content)
      : pointer('paths', path, method, 'responses', String(status), ...content);
    if (documented && text === '') expect(documented.content).toBeUndefined();
    else if (documented) expect(ajv.validate({ $ref: schema }, JSON.parse(text)), ajv.errorsText()).toBe(true);
    return { status, body: text === '' ? undefined : JSON.parse(text) };
  };
const ask = asking(hub);
const post = (body: string) => ask('POST', '/devices', body);

describe('the admin port', () => {
  test('describes the hub', async () => {
    const { status, body } = await ask('GET', '/');
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'sandbox-hub', hostName: 'localhost', ports: hub.ports, caFile: hub.caFile });
  });
  test('adds a device and returns its connection string', async () => {
    const { status, body } = await post('{"deviceId":"made-1"}');
    expect(status).toBe(201);
    expect(body).toMatchObject({ deviceId: 'made-1', primaryKey: hub.registry.get('made-1')?.primaryKey });
    expect(body.connectionString).toBe(hub.deviceConnectionString('made-1'));
    await connectedDevice(hub, 'made-1');
    const { body: list } = await ask('GET', '/devices');
    expect(list.devices).toContainEqual(expect.objectContaining({ deviceId: 'made-1', connected: true, pending: 0 }));
  });
  test('adds a device with a given key', async () => {
    const primaryKey = Buffer.alloc(32, 7).toString('base64');
    expect((await post(JSON.stringify({ deviceId: 'made-2', primaryKey }))).body.primaryKey).toBe(primaryKey);
  });
  test('lists devices without their keys', async () => {
    const { body } = await ask('GET', '/devices');
    expect(JSON.stringify(body)).not.toContain(hub.registry.get('pump-1')?.primaryKey);
  });
  test('renews one key of a policy: its tokens are refused from now on, those of the other key are not', async () => {
    const [first, second] = (['primaryKey', 'secondaryKey'] as const).map((key) =>
      hub.connectionString('registryRead', key),
    );
    const query = async (connectionString = '') => {
      const [, key = ''] = /SharedAccessKey=(.*)$/.exec(connectionString) ?? [];
      const authorization = signSas('localhost', key, 'base64', Math.floor(Date.now() / 1000) + 60, 'registryRead');
      const path = '/statistics/devices?api-version=2021-04-12';
      return (await askRest(hub, 'GET', path, { headers: { authorization } })).status;
    };
    expect([await query(first), await query(second)]).toEqual([200, 200]);
    const renew = (policy: string, body: string) => ask('POST', `/policies/${policy}/keys`, body);
    const { status, body } = await renew('registryRead', '{"key":"secondaryKey"}');
    expect([status, body]).toEqual([200, expect.objectContaining({ policy: 'registryRead', key: 'secondaryKey' })]);
    expect(body.connectionString).toBe(hub.connectionString('registryRead', 'secondaryKey'));
    expect(body.eventsConnectionString).toBe(hub.eventHubConnectionString('registryRead', 'secondaryKey'));
    expect([await query(first), await query(second), await query(body.connectionString)]).toEqual([200, 401, 200]);
    expect(await renew('nobody', '{}')).toEqual({ status: 404, body: { error: 'The hub has no policy nobody.' } });
    expect((await renew('registryRead', '{"key":"third"}')).status).toBe(400);
  });
  test('sends a message to a device, as a service does', async () => {
    const send = (id: string, body: object) => ask('POST', `/devices/${id}/messages`, body);
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
    const { body } = await ask('GET', '/connections');
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
    const left = async () => (await ask('GET', '/connections')).body.connections.map(({ id }: { id: number }) => id);
    await expect.poll(left).not.toContain(found.id);
    device.socket.destroy();
  });
  test('shows the journal after a position, and of one device', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket('devices/pump-1/messages/events/a=1', 'hello'));
    await device.next('puback');
    device.socket.destroy();
    const { body } = await ask('GET', '/journal?deviceId=pump-1&kind=d2c');
    const sent = { kind: 'd2c', deviceId: 'pump-1', properties: { a: '1' }, body: 'aGVsbG8=', text: 'hello' };
    expect(body.entries).toMatchObject([sent]);
    const since = body.entries[0].position;
    expect(body.last).toBe(hub.journal.last);
    expect((await ask('GET', `/journal?deviceId=pump-1&kind=d2c&since=${since}`)).body.entries).toEqual([]);
  });
  test('shows the sequence numbers of the partitions', async () => {
    const { body } = await ask('GET', '/partitions');
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
    expect((await ask('GET', path)).status).toBe(404),
  );
  test.each(['since=x', 'since=-1', 'kind=x'])('refuses a journal query with %s', async (query) =>
    expect((await ask('GET', `/journal?${query}`)).status).toBe(400),
  );
  test('ends a fault after so many seconds', async () => {
    const fault = { kind: 'no-events', partition: '9' };
    expect((await ask('POST', '/faults?seconds=0', fault)).status).toBe(400);
    const { body } = await ask('POST', '/faults?seconds=1', fault);
    const listed = await ask('GET', '/faults');
    expect(listed.body.faults).toMatchObject([{ id: body.id, until: expect.stringMatching(/^\d{4}-.*Z$/) }]);
    await expect.poll(async () => (await ask('GET', '/faults')).body.faults, { timeout: 60_000 }).toEqual([]);
  });
  test('describes each kind of fault as JSON Schema, too', async () => {
    const { body } = await ask('GET', '/faults/kinds');
    const settle = body.kinds.find(({ kind }: { kind: string }) => kind === 'settle');
    expect(settle.schema).toMatchObject({ required: ['kind', 'answer'], properties: { ms: { type: 'integer' } } });
  });
  test('shows the twin of a device, and what waits for it, without bodies', async () => {
    await post('{"deviceId":"absent-1"}');
    const waiting = { system: { messageId: 'm-1' }, properties: { a: 'b' } };
    hub.devicebound.enqueue('absent-1', { ...waiting, body: Buffer.from('secret') }, 'p');
    const { messages } = (await ask('GET', '/devices/absent-1/messages')).body;
    expect(messages).toEqual([{ ...waiting, system: expect.objectContaining(waiting.system), bytes: 6 }]);
    expect((await ask('GET', '/devices/absent-1/twin')).body).toMatchObject({ tags: {}, desired: { $version: 1 } });
  });
  test('refuses web pages', async () =>
    expect((await ask('GET', '/devices', undefined, { origin: 'https://example.com' })).status).toBe(403));
});

const ofClient = hubForAll({ devices: [{ deviceId: 'pump-1' }] });
let admin: AdminClient;
beforeAll(() => (admin = createAdminClient(`${ofClient.adminUrl}/`)));

test('the admin client has a function for each operation', () =>
  expect(Object.keys(admin).toSorted()).toEqual(Object.keys(operations).toSorted()));

test('the admin client sends ids, bodies and queries, and gives what the hub answers', async () => {
  expect(await admin.describe()).toMatchObject({ name: 'sandbox-hub', ports: ofClient.ports });
  const { connectionString } = await admin.addDevice({ deviceId: 'made%1' });
  expect(connectionString).toBe(ofClient.deviceConnectionString('made%1'));
  expect(await admin.removeDevice('made%1')).toBeUndefined();
  expect((await admin.listDevices()).devices.map(({ deviceId }) => deviceId)).toEqual(['pump-1']);
  expect(await admin.addFault({ kind: 'drop' })).toEqual({ struck: 0 });
  expect(await admin.renewKey('device', {})).toMatchObject({ policy: 'device', key: 'primaryKey' });
});

test('the admin client gives the sentence of a refusal, and its status', async () => {
  await expect(admin.addDevice({ deviceId: 'pump-1' })).rejects.toMatchObject({
    name: 'HubRefused',
    status: 409,
    message: 'A device of this id exists already.',
  });
  await expect(admin.clearFault('none')).rejects.toMatchObject({ status: 404 });
});

test('the admin client reads the journal, and follows it until the loop is left', async () => {
  const device = await connectedDevice(ofClient, 'pump-1');
  const kinds: string[] = [];
  for await (const entry of admin.streamJournal({ since: 0, deviceId: 'pump-1' })) {
    kinds.push(entry.kind);
    if (entry.kind === 'connected') device.send(publishPacket('devices/pump-1/messages/events/', 'wärm'));
    if (entry.kind !== 'd2c') continue;
    expect(entry).toMatchObject({ text: 'wärm', body: Buffer.from('wärm').toString('base64') });
    break;
  }
  expect(kinds).toEqual(['connected', 'd2c']);
  const { entries, last } = await admin.readJournal({ kind: 'd2c' });
  expect(entries).toMatchObject([{ position: last, kind: 'd2c', partition: expect.any(Number) }]);
  device.socket.destroy();
});

test('the admin client ends what it follows with a signal, and tells what has gone', async () => {
  const leaving = new AbortController();
  const stream = admin.streamJournal({ since: 9_999 }, leaving.signal);
  expect((await stream.next()).value).toEqual({ kind: 'gap', after: 9_999, next: 1 });
  const after = (async () => {
    for await (const _ of stream);
  })();
  leaving.abort(new Error('enough'));
  await expect(after).rejects.toThrow('enough');
});

test('answers about certificates, and about what is not there, comply with the contract', async () => {
  for (const [method, path] of [
    ...[['GET', '/devices/none/twin'] as const, ['GET', '/devices/none/messages'] as const],
    ...[['DELETE', '/devices/none'] as const, ['DELETE', '/certificates/none'] as const],
    ['POST', '/certificates/none/generateVerificationCode'],
  ] as const)
    expect((await ask(method, path)).status, path).toBe(404);
  expect((await ask('GET', '/journal/stream?since=x')).status).toBe(400);
  const authority = await issueCertificate({ name: 'Factory', role: 'authority' });
  const registered = { name: 'factory', certificate: authority.cert };
  expect((await ask('POST', '/certificates', registered)).status).toBe(201);
  expect((await ask('POST', '/certificates', { ...registered, name: '' })).status).toBe(400);
  expect((await ask('POST', '/certificates', {})).status).toBe(400);
  expect((await ask('GET', '/certificates')).status).toBe(200);
  const { status, body } = await ask('POST', '/certificates/factory/generateVerificationCode');
  expect(status).toBe(200);
  const given = { name: body.verificationCode, role: 'client', issuer: authority } as const;
  const { cert: certificate } = await issueCertificate(given);
  expect((await ask('POST', '/certificates/factory/verify', registered)).status).toBe(400);
  expect((await ask('POST', '/certificates/factory/verify', {})).status).toBe(400);
  expect((await ask('POST', '/certificates/none/verify', { certificate })).status).toBe(404);
  expect((await ask('POST', '/certificates/factory/verify', { certificate })).status).toBe(200);
  expect(hub.certificates.verified()).toHaveLength(1);
  expect((await ask('DELETE', '/certificates/factory')).status).toBe(204);
  const signed = { deviceId: 'signed', authentication: { type: 'certificateAuthority' } };
  expect((await ask('POST', '/devices', signed)).status).toBe(201);
});

/** A server that streams a journal and nothing else, and how many watch the journal. */
async function streaming({ bytes = 1_000_000, heartbeatMs = 60_000 } = {}) {
  const kept = createJournal({ bytes });
  let watchers = 0;
  const watch: typeof kept.watch = (listener) => {
    watchers += 1;
    const unwatch = kept.watch(listener);
    return () => {
      watchers -= 1;
      unwatch();
    };
  };
  const journal = new Proxy(kept, { get: (target, name) => (name === 'watch' ? watch : Reflect.get(target, name)) });
  const closing = new AbortController();
  const responses: ServerResponse[] = [];
  const server = createHttpServer({
    keepAliveMs: 1000,
    explain: () => 'reset',
    async serve(request, response) {
      responses.push(response);
      const { searchParams } = new URL(request.url ?? '', 'http://localhost');
      const query = parseQuery(searchParams, Error);
      streamJournal(journal, query, { request, response, closing: closing.signal, heartbeatMs });
      return 'written';
    },
  });
  const port = await portForTest(server);
  const add = (deviceId: string, reason = '') =>
    kept.add({ kind: 'disconnected', deviceId, protocol: 'mqtt', reason }).position;
  return { journal: kept, add, closing, responses, port, watchers: () => watchers };
}

/** A client that reads events as they come. */
async function reader(port: number, path: string, headers: Record<string, string> = {}) {
  const away = new AbortController();
  onTestFinished(() => away.abort());
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal: away.signal });
  const seen = { text: '', isEnded: false };
  const reading = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) seen.text += chunk;
    seen.isEnded = true;
  })();
  reading.catch(() => undefined);
  const ids = () => [...seen.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  return { response, seen, ids, away, reading };
}

test('a stream begins with the next entry, and each event has the position as its id', async () => {
  const { add, port } = await streaming();
  add('before');
  const { response, seen, ids } = await reader(port, '/');
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const position = add('a', 'line\nbreak');
  await vi.waitFor(() => expect(ids()).toEqual([position]), soon);
  const [, data = ''] = /^data: (.*)\n\n$/m.exec(seen.text) ?? [];
  const entry = { kind: 'disconnected', deviceId: 'a', protocol: 'mqtt', reason: 'line\nbreak' };
  expect(JSON.parse(data)).toEqual({ ...entry, position, time: expect.stringMatching(/Z$/) });
});

test('a stream begins after the requested position, so that a client that reconnects goes on', async () => {
  const { add, port } = await streaming();
  for (const device of ['a', 'b', 'c']) add(device);
  const first = await reader(port, '/?since=1');
  await vi.waitFor(() => expect(first.ids()).toEqual([2, 3]), soon);
  const again = await reader(port, '/?since=1', { 'last-event-id': '2' });
  add('d');
  await vi.waitFor(() => expect(again.ids()).toEqual([3, 4]), soon);
});

test('a stream can have the entries of one device, correlation id or kind only', async () => {
  const { journal, add, port } = await streaming();
  const ofDevice = await reader(port, '/?deviceId=b');
  const ofKind = await reader(port, '/?kind=receiver-closed');
  const ofMessage = await reader(port, '/?correlationId=c1');
  add('a');
  add('b');
  journal.add({ kind: 'receiver-closed', address: 'x', reason: 'y' });
  const times = { responseTimeoutInSeconds: 30, connectTimeoutInSeconds: 0 };
  const call = { deviceId: 'a', correlationId: 'c1', methodName: 'm', payload: '1' };
  journal.add({ kind: 'method', ...call, ...times });
  await vi.waitFor(() => expect([ofDevice.ids(), ofKind.ids(), ofMessage.ids()]).toEqual([[2], [3], [4]]), soon);
});

test('a client that asks for deleted entries gets a gap', async () => {
  const { journal, add, port } = await streaming({ bytes: 2000 });
  for (let i = 0; i < 20; i += 1) add('a');
  const { first } = journal;
  expect(first).toBeGreaterThan(2);
  const { seen, ids } = await reader(port, '/?since=1');
  await vi.waitFor(() => expect(ids().at(-1)).toBe(20), soon);
  expect(seen.text).toMatch(new RegExp(`^event: gap\ndata: {"after":1,"next":${first}}\n\nid: ${first}\n`));
});

test('a client that does not read costs little memory, and gets a gap when it reads on', async () => {
  const { add, port, responses } = await streaming({ bytes: 1_000_000 });
  const socket: Socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write('GET /?since=0 HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await vi.waitFor(() => expect(responses).toHaveLength(1), soon);
  let most = 0;
  for (let i = 0; i < 1500; i += 1) {
    add('a', 'x'.repeat(50_000));
    await turn();
    most = Math.max(most, responses[0]?.writableLength ?? 0);
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(500_000);
  let isTold = false;
  let rest = '';
  for await (const chunk of socket) {
    rest = (rest + chunk).slice(-100_000);
    isTold ||= rest.includes('event: gap');
    if (isTold && rest.includes('id: 1500\n')) break;
  }
  expect(isTold).toBe(true);
});

test('a client that disconnects is removed from the watchers', async () => {
  const { port, watchers } = await streaming();
  const { away } = await reader(port, '/');
  expect(watchers()).toBe(1);
  away.abort();
  await vi.waitFor(() => expect(watchers()).toBe(0), soon);
});

test('a stream ends completely when the server stops', async () => {
  const { add, port, closing, watchers } = await streaming();
  const { reading, seen, ids } = await reader(port, '/');
  add('a');
  await vi.waitFor(() => expect(ids()).toHaveLength(1), soon);
  closing.abort();
  await reading;
  expect(seen.isEnded).toBe(true);
  await vi.waitFor(() => expect(watchers()).toBe(0), soon);
});

test('a stream without entries has heartbeats', async () => {
  const { port } = await streaming({ heartbeatMs: 5 });
  const { seen } = await reader(port, '/');
  await vi.waitFor(() => expect(seen.text).toContain(': heartbeat\n\n'), soon);
});

describe('faults over the admin port', () => {
  const hub = hubForFaults({ devices: [{ deviceId: 'pump-1' }], partitions: 1 });

  const ask = asking(hub);

  test('are added, listed and cleared', async () => {
    const fault = { kind: 'settle', answer: 'reject', times: 3 };
    const { status, body } = await ask('POST', '/faults', fault);
    expect(status).toBe(201);
    expect((await ask('GET', '/faults')).body).toEqual({ faults: [{ id: body.id, fault, struck: 0 }] });
    expect(await ask('DELETE', `/faults/${body.id}`)).toEqual({ status: 204, body: undefined });
    expect((await ask('DELETE', `/faults/${body.id}`)).status).toBe(404);
    await ask('POST', '/faults', fault);
    expect(await ask('DELETE', '/faults')).toEqual({ status: 200, body: { ended: 1 } });
    expect((await ask('GET', '/faults')).body).toEqual({ faults: [] });
  });
  test('happen at once and count what they affected', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    const answer = await ask('POST', '/faults', { kind: 'drop', connections: 'device' });
    expect(answer).toEqual({ status: 200, body: { struck: 1 } });
    await device.closed;
  });
  test.each([
    [{ kind: 'dorp' }, 'kind takes settle, refuse-connection, '],
    [{ kind: 'settle' }, 'answer takes hold, delay, never, release, modify, reject, detach, close, fin, rst'],
    [{ kind: 'drop', how: 'slowly', colour: 'red' }, 'how takes fin, rst; this kind has no field colour'],
    [{ kind: 'settle', answer: 'reject', times: 0 }, 'times is at least 1'],
    [{ kind: 'rest', answer: 'status', status: 9000 }, 'status is at most 599'],
    [{ kind: 'rest', answer: 'status', path: '' }, 'path must not be empty'],
    [{ kind: 'rest', answer: 'status', path: 'x'.repeat(257) }, 'path has at most 256 characters'],
    [7, 'a fault takes a JSON object'],
  ])('that are invalid are refused with a sentence: %j', async (fault, sentence) => {
    const { status, body } = await ask('POST', '/faults', fault);
    expect([status, body.error]).toEqual([400, expect.stringContaining(`That is no fault: ${sentence}`)]);
    expect(body.error).not.toMatch(/expected|received|✖|→/);
  });
  test('a burst in a hub without devices is refused with a status and a sentence', async () => {
    const empty = asking(await hubForTest());
    const body = { error: 'There is no device that could send the events.' };
    expect(await empty('POST', '/faults', { kind: 'burst', events: 1 })).toEqual({ status: 404, body });
  });
  test('the counters show connections, links, credit, events and queues', async () => {
    const { bodies } = await eventReceiver(hub, { credit: 10 });
    append(hub, ['a', 'b']);
    await expect.poll(() => bodies).toEqual(['a', 'b']);
    await outcomeOf(await serviceLink(hub), toDevice('pump-1'));
    const device = await connectedDevice(hub, 'pump-1');
    const { body } = await ask('GET', '/counters');
    expect(body).toMatchObject({
      connections: { all: 3, events: 1, service: 1, device: 1, unknown: 0 },
      links: 2,
      receivers: [{ address: 'sandbox-hub/ConsumerGroups/$Default/Partitions/0', credit: 8, delivered: 2 }],
      ...{ appended: 2, delivered: 2, settled: 2, queued: { all: 1, byDevice: { 'pump-1': 1 } } },
    });
    expect(body).toEqual(JSON.parse(JSON.stringify(hub.counters())));
    device.socket.destroy();
  });
});
