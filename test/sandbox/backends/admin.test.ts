import { expect, it } from 'vitest';
import { guid, http, useTestBackends } from './client.ts';

const test = useTestBackends();

type Schema = { required: string[]; properties: Record<string, { description?: string }> };

const data = async (path: string) => ((await test.admin('GET', path)).json as { data: unknown[] }).data;
const entries = async (query: string) =>
  ((await test.admin('GET', `/journal${query}`)).json as { entries: unknown[] }).entries;

it('the admin port describes the backends', async () => {
  const { json } = await test.admin('GET', '/');
  expect(Object.keys((json as { routes: object }).routes)).toContain('POST /faults?seconds=');
});

it('faults are described, are there for so many seconds, and end one by one', async () => {
  const { json } = await test.admin('GET', '/faults/kinds');
  for (const { kind, what, schema } of (json as { kinds: { kind: string; what: string; schema: Schema }[] }).kinds) {
    expect(what).toMatch(/\.$/);
    expect(schema.required).toEqual(['backend', ...kind.split(',')]);
    for (const { description } of Object.values(schema.properties)) expect(description).toBeTypeOf('string');
  }
  const hang = { backend: 'token', hang: true };
  const added = await test.admin('POST', '/faults?seconds=1', hang);
  expect(added).toMatchObject({ status: 201, json: { until: expect.stringMatching(/^\d{4}-/) } });
  const { id } = (await test.admin('POST', '/faults', hang)).json as { id: string };
  await expect.poll(() => test.backends.faults.list().map((fault) => fault.id), { timeout: 60_000 }).toEqual([id]);
  expect((await test.admin('DELETE', `/faults/${id}`)).status).toBe(204);
  expect((await test.admin('DELETE', `/faults/${id}`)).status).toBe(404);
  expect((await test.admin('POST', '/faults?seconds=0', hang)).status).toBe(400);
  expect((await test.admin('POST', '/faults', { backend: 'other', status: 500 })).error?.detail).toContain('$.backend');
  await test.admin('POST', '/faults', hang);
  expect(await data('/faults')).toMatchObject([hang]);
  expect((await test.admin('DELETE', '/faults')).status).toBe(204);
  expect(await data('/faults')).toEqual([]);
});

it('a device is bootstrapped once, with identities below it, in the given tenant {S13.7}', async () => {
  const body = { deviceId: 'new-1', tenant: 'globex', children: ['edge/camera', 'edge/door'] };
  expect((await test.admin('POST', '/devices', body)).status).toBe(201);
  expect((await test.admin('POST', '/devices', { deviceId: 'new-1' })).status).toBe(200);
  expect((await test.admin('POST', '/devices', { deviceId: 'new-1', tenant: 'acme' })).status).toBe(409);
  const { json } = await test.as('new-1').pm('GET', '/devices?device=new-1&path=edge&identity=door');
  expect(json).toMatchObject({ data: [{ path: 'new-1/edge/door' }] });
});

it.each([
  ['a slash', { deviceId: 'a/b' }],
  ['dots', { deviceId: '..' }],
  ['nothing', { deviceId: '' }],
  ['no id', {}],
  ['an unknown member', { deviceId: 'a', owner: 'x' }],
  ['an empty segment below it', { deviceId: 'a', children: ['x//y'] }],
])('a device with %s is refused without effect', async (_, body) => {
  const before = test.backends.world.principals.list().length;
  expect((await test.admin('POST', '/devices', body)).status).toBe(400);
  expect(test.backends.world.principals.list()).toHaveLength(before);
});

it('types are created for all tenants or for one', async () => {
  const fan = { typeId: 'fan', version: '1.0.0' };
  expect((await test.admin('POST', '/types?tenant=acme', fan)).status).toBe(201);
  expect((await test.as('rival-1').tr('GET', '/modelDefinitions/svc.device/types/fan')).status).toBe(404);
  expect((await test.admin('POST', '/types?model=svc.other', fan)).status).toBe(201);
  expect((await test.as('rival-1').tr('GET', '/modelDefinitions/svc.other/types/fan')).status).toBe(200);
  expect((await test.admin('POST', '/types?tenant=nobody', fan)).status).toBe(400);
});

it('object models are created without an owner', async () => {
  const body = { objectId: guid(1), model: 'svc.device', type: 'pump', properties: { serial: 'S' } };
  expect((await test.admin('POST', '/objects?tenant=globex', body)).status).toBe(201);
  expect((await test.admin('POST', '/objects?tenant=globex', { ...body, objectId: guid(2) })).status).toBe(409);
  const { json } = await test.as('rival-1').im('GET', `/objects/${guid(1)}/models/svc.device`);
  expect(json).not.toHaveProperty('ownerId');
});

it('the world is shown', async () => {
  const { im } = test.as('pump-1');
  const sensor = { objectId: guid(1), model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } };
  await im('POST', '/object', sensor);
  const to = { objectId: guid(1), model: 'svc.device' };
  await im('POST', `/objects/${guid(1)}/models/svc.device/references/out`, [{ name: 'parent', to }]);
  const references = [{ name: 'parent', to, attributes: {} }];
  const shown = { ...sensor, type: 'sensor@1.0.0', tenant: 'acme', references };
  expect(await data('/world/objects')).toContainEqual(expect.objectContaining(shown));
  expect(await data('/world/types')).toContainEqual(expect.objectContaining({ tenant: null, typeId: 'booster-pump' }));
  const edge = expect.objectContaining({ path: 'gateway-1/edge', tenant: 'acme' });
  expect(await data('/world/principals')).toContainEqual(edge);
});

it('the journal lists entries after a position and of a device, without tokens', async () => {
  const mark = test.backends.journal.last;
  const body = '{"model":"m", "type":"t","properties":{"a":1}}';
  const headers = { 'x-correlation-id': 'c%201', traceparent: '00-1', 'idempotency-key': 'i' };
  await test.as('pump-1').im('POST', '/query', body, { headers });
  await test.as('pump-2').pm('GET', '/devices?device=pump-2');
  const about = { server: 'informationModel', deviceId: 'pump-1', correlationId: 'c 1', time: expect.any(String) };
  expect(await entries(`?since=${mark}`)).toHaveLength(4);
  expect(await entries(`?since=${mark}&deviceId=pump-1`)).toEqual([
    {
      ...about,
      ...{ kind: 'http-request', position: mark + 1, method: 'POST', path: '/query' },
      headers: { 'x-svc-device-id': 'pump-1', ...headers },
      body,
    },
    { ...about, kind: 'http-response', position: mark + 2, request: mark + 1, status: 200, body: '{"data":[]}' },
  ]);
  expect(await entries('?correlationId=c%201&kind=http-response')).toHaveLength(1);
  expect((await test.admin('GET', '/journal?since=x')).status).toBe(400);
});

it('the journal streams new entries', async () => {
  const away = new AbortController();
  const { body } = await fetch(`${test.backends.adminUrl}/journal/stream?deviceId=pump-1`, { signal: away.signal });
  await test.as('pump-1').pm('GET', '/devices?device=pump-1');
  let seen = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += chunk;
    if (seen.includes('http-response')) break;
  }
  away.abort();
  expect(seen).toMatch(/^id: \d+\ndata: .*"http-request".*\n\nid: \d+\ndata: .*"http-response"/);
});

it.each([
  ['with an origin', { origin: 'https://example.com' }],
  ['for another host name', { host: 'evil.example' }],
])('a web page is refused, whose requests come %s', async (_, headers) => {
  await test.admin('POST', '/devices', { deviceId: 'kept-1' });
  const { status, error } = await http(test.backends.adminUrl, 'POST', '/reset', undefined, headers);
  expect([status, error?.code]).toEqual([403, '403']);
  expect(test.backends.world.principals.device('kept-1')).toBeDefined();
  expect((await http(test.backends.token.url, 'POST', '/oauth2/token', '', headers)).status).toBe(403);
});

it('a reset restores the world and removes faults', async () => {
  await test.admin('POST', '/devices', { deviceId: 'new-1' });
  await test.admin('POST', '/faults', { backend: 'typeRegistry', status: 500 });
  expect((await test.admin('POST', '/reset')).status).toBe(204);
  expect(test.backends.world.principals.device('new-1')).toBeUndefined();
  expect(test.backends.world.principals.device('pump-1')).toBeDefined();
  expect(await data('/faults')).toEqual([]);
});

it('the admin port needs no token, and has no other routes', async () => {
  expect((await test.admin('GET', '/nowhere')).status).toBe(404);
  expect((await test.admin('PUT', '/faults', {})).status).toBe(405);
});
