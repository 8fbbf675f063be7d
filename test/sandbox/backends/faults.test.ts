import { beforeEach, expect, it, vi } from 'vitest';
import type { FaultRequest } from '../../../sandbox/backends/calls/faults.ts';
import { createIdempotency } from '../../../sandbox/backends/world/idempotency.ts';
import { soon } from '../../support/waiting.ts';
import { fetchToken, guid, startTestBackends, useTestBackends } from './client.ts';

const test = useTestBackends();
beforeEach(() => test.backends.faults.clear());

const sensor = { model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } };
const undescribed = { described: false };
const create = (device = 'pump-1') => test.as(device).im('POST', '/object', sensor, undescribed);
const count = () => test.backends.world.objects.count;
const add = (fault: Omit<FaultRequest, 'backend'>) =>
  test.backends.faults.add({ backend: 'informationModel', ...fault });
const lastEntry = () => test.backends.calls().at(-1);

/** Makes a call that nobody will answer; resolves once the backend has decided about it. */
async function callInVain(): Promise<void> {
  const { backends } = test;
  const mark = backends.journal.last;
  const outcome = vi.fn();
  create().then(outcome, outcome);
  await vi.waitFor(() => expect(backends.calls({ since: mark })).toHaveLength(1), soon);
  expect(outcome).not.toHaveBeenCalled();
}

it('a fault can answer a status instead of the effect, with given headers', async () => {
  add({ status: 503, headers: { 'retry-after': '7' }, times: 1 });
  const before = count();
  const { status, headers, error } = await create();
  expect([status, headers['retry-after'], error?.code, count()]).toEqual([503, '7', '503', before]);
  expect((await create()).status).toBe(201);
});

it('a fault can answer garbage, as success or with a status', async () => {
  add({ garbage: true, times: 1 });
  add({ garbage: true, status: 502, times: 1 });
  const before = count();
  const first = await create();
  expect([first.status, first.text.startsWith('<html>')]).toEqual([200, true]);
  expect((await create()).status).toBe(502);
  expect(count()).toBe(before);
});

it.each([
  ['before the effect', 'before', 0, /hang up|ECONNRESET/],
  ['after the effect', 'after-effect', 1, /hang up|ECONNRESET/],
  ['in the middle of the answer', 'mid-body', 1, /aborted/],
] as const)('a fault can reset the connection %s', async (_, reset, effects, error) => {
  add({ reset, times: 1 });
  const before = count();
  await expect(create()).rejects.toThrow(error);
  expect(count()).toBe(before + effects);
  expect((await create()).status).toBe(201);
});

it.each([
  ['lose the answer after the effect', { lostAnswer: true }, 1, expect.stringContaining('"version":1')],
  ['hang without effect', { hang: true }, 0, null],
])('a fault can %s', async (_, fault, effects, answer) => {
  add({ ...fault, times: 1 });
  const before = count();
  await callInVain();
  expect(count()).toBe(before + effects);
  expect(lastEntry()).toMatchObject({ status: null, answer });
});

it('a fault can delay the answer', async () => {
  add({ delayMs: 1, times: 1 });
  expect((await create()).status).toBe(201);
});

it('a fault applies only to its route, method and device, and only the given number of times', async () => {
  const at = `/objects/${guid(1)}/models/svc.device`;
  await test.as('pump-1').im('POST', '/object', { ...sensor, objectId: guid(1) });
  add({ method: 'GET', path: '/objects/{objectId}/models/{model}', deviceId: 'pump-1', status: 500, times: 2 });
  const get = (device: string, path: string) => test.as(device).im('GET', path, undefined, undescribed);
  expect((await create()).status).toBe(201);
  expect((await get('pump-2', at)).status).toBe(403);
  expect((await get('pump-1', `${at}/references/out`)).status).toBe(200);
  expect([(await get('pump-1', at)).status, (await get('pump-1', at)).status]).toEqual([500, 500]);
  expect((await get('pump-1', at)).status).toBe(200);
});

it.each([
  ['/objects/**', '/objects/a/models/b/references/out', true],
  ['/objects/**', '/object', false],
  ['/objects/*/models/svc.device', '/objects/a/models/svc.device', true],
  ['/objects/*/models/svc.device', '/objects/a/models/svc.configuration', false],
  ['/query', '/query', true],
])('the pattern %s matches %s: %s', (path, asked, struck) => {
  add({ path, status: 500 });
  const target = { backend: 'informationModel', method: 'GET', path: asked, deviceId: undefined } as const;
  expect(test.backends.faults.strike(target) !== undefined).toBe(struck);
});

it('faults apply in the order in which they were added', async () => {
  add({ status: 500, times: 1 });
  add({ status: 502, times: 1 });
  expect([(await create()).status, (await create()).status, (await create()).status]).toEqual([500, 502, 201]);
});

it('a fault can apply to the token endpoint', async () => {
  test.backends.faults.add({ backend: 'token', status: 503, times: 1 });
  await expect(fetchToken(test.backends)).resolves.toBeUndefined();
  await expect(fetchToken(test.backends)).resolves.toMatch(/./);
});

it('the journal has the fault that applied', async () => {
  const { id } = add({ status: 500, times: 1 });
  await create();
  expect(lastEntry()).toMatchObject({ fault: id, status: 500 });
});

it('a fault without effect or with unknown fields is refused', () => {
  expect(() => add({ path: '/query' })).toThrow('a fault needs one of');
  expect(() => add({ status: 42 })).toThrow();
  expect(() => add({ times: 0, hang: true })).toThrow();
});

it('hanging calls end when the backends close', async () => {
  const other = await startTestBackends();
  other.backends.faults.add({ backend: 'principalManager', hang: true });
  other.backends.faults.add({ backend: 'informationModel', delayMs: 3_600_000 });
  const pm = other.as('pump-1').pm('GET', '/devices?device=pump-1', undefined, undescribed);
  const im = other.as('pump-1').im('POST', '/object', sensor, undescribed);
  const outcomes = Promise.allSettled([pm, im]);
  await vi.waitFor(() => expect(other.backends.calls()).toHaveLength(3), soon);
  await other.close();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

it('there is room for a thousand faults', async () => {
  for (let i = 0; i < 1000; i += 1) add({ path: `/${i}`, status: 500 });
  expect(() => add({ status: 500 })).toThrow('1000 faults wait already');
  expect((await test.admin('POST', '/faults', { backend: 'token', status: 500 })).status).toBe(409);
});

const key = { headers: { 'idempotency-key': 'k1' } };

it('the key with another query is refused with 422', async () => {
  const { im } = test.as('pump-1');
  await im('POST', '/object', sensor, key);
  const before = count();
  expect((await im('POST', `/object?owner=${guid(2)}`, sensor, key)).status).toBe(422);
  expect(count()).toBe(before);
});

it('keys of different devices and different backends are independent', async () => {
  expect((await test.as('pump-1').im('POST', '/object', sensor, key)).status).toBe(201);
  expect((await test.as('pump-2').im('POST', '/object', sensor, key)).json).toMatchObject({ path: 'pump-2' });
  const id = test.backends.world.principals.device('pump-1')?.id;
  expect((await test.as('pump-1').pm('PUT', `/devices/${id}`, {}, key)).status).toBe(200);
});

it('the caller is checked before an answer is repeated', async () => {
  await test.as('pump-1').im('POST', '/object', sensor, key);
  const headers = { ...key.headers, authorization: 'Bearer expired' };
  expect((await test.as('pump-1').im('POST', '/object', sensor, { headers })).status).toBe(401);
});

it('two concurrent requests have one effect', async () => {
  const { im } = test.as('pump-1');
  const before = count();
  const [a, b] = await Promise.all([im('POST', '/object', sensor, key), im('POST', '/object', sensor, key)]);
  expect(a?.text).toBe(b?.text);
  expect(count()).toBe(before + 1);
});

it('a key on a query is ignored', async () => {
  const { im } = test.as('pump-1');
  const query = { model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } };
  expect((await im('POST', '/query', query, key)).json).toEqual({ data: [] });
  await im('POST', '/object', sensor);
  expect((await im('POST', '/query', query, key)).json).toMatchObject({ data: [{ version: 1 }] });
});

it('an empty key and one over 255 characters are refused', async () => {
  for (const value of ['', 'k'.repeat(256)]) {
    const { status } = await test.as('pump-1').im('POST', '/object', sensor, { headers: { 'idempotency-key': value } });
    expect(status).toBe(400);
  }
});

it('the latest answers are kept up to a limit in bytes', () => {
  const { once, dump, restore } = createIdempotency(() => undefined, 100_000);
  const mutation = (key: number) => ({ backend: 'b', deviceId: 'd', key: String(key), method: 'POST', path: '/' });
  const answer = { status: 200, body: 'x'.repeat(5_000) };
  for (let key = 0; key < 1000; key += 1) once(mutation(key), () => answer);
  const kept = dump();
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.length * 10_000).toBeLessThan(100_000);
  const again = vi.fn(() => ({ status: 204 }));
  expect(once(mutation(999), again)).toEqual(answer);
  expect(again).not.toHaveBeenCalled();
  expect(once(mutation(0), again)).toEqual({ status: 204 });
  for (const change of kept) if (change.kind === 'answer') restore(change);
  expect(dump().length).toBeLessThanOrEqual(kept.length + 1);
});
