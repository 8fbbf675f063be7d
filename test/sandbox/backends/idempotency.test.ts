import { expect, it, vi } from 'vitest';
import { createIdempotency } from '../../../sandbox/backends/world/idempotency.ts';
import { guid, useTestBackends } from './client.ts';

const test = useTestBackends();

const key = { headers: { 'idempotency-key': 'k1' } };
const sensor = { model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } };
const count = () => test.backends.world.objects.count;

it('a repeated mutation gets the same answer bytes, without a second effect', async () => {
  const { im } = test.as('pump-1');
  const first = await im('POST', '/object', sensor, key);
  const before = count();
  const again = await im('POST', '/object', sensor, key);
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(count()).toBe(before);
});

it('a repeated deletion gets 204 again', async () => {
  const { pm } = test.as('gateway-1');
  const id = test.idOf('gateway-1/edge/sensor-1');
  expect((await pm('DELETE', `/devices/${id}`, undefined, key)).status).toBe(204);
  expect((await pm('DELETE', `/devices/${id}`, undefined, key)).status).toBe(204);
  expect((await pm('DELETE', `/devices/${id}`)).status).toBe(404);
});

it('a repeated update gets the first answer, even if the version has changed', async () => {
  const { im } = test.as('pump-1');
  const at = `/objects/${guid(1)}/models/svc.device`;
  await im('POST', '/object', { ...sensor, objectId: guid(1) });
  expect((await im('PUT', at, { ...sensor, version: 1 }, key)).json).toMatchObject({ version: 2 });
  expect((await im('PUT', at, { ...sensor, version: 2 }, key)).json).toMatchObject({ version: 2 });
  expect((await im('PUT', at, { ...sensor, version: 1 })).status).toBe(409);
});

it('a refusal is repeated, too', async () => {
  const { im } = test.as('pump-1');
  const at = `/objects/${guid(1)}/models/svc.device`;
  const body = { ...sensor, version: 1 };
  const first = await im('PUT', at, body, key);
  await im('POST', '/object', { ...sensor, objectId: guid(1) });
  const again = await im('PUT', at, body, key);
  expect([first.status, again.text]).toEqual([404, first.text]);
});

it.each([
  ['another path', `/objects/${guid(1)}`, sensor],
  ['another query', `/object?owner=${guid(2)}`, sensor],
])('the key with %s is refused with 422', async (_, path, body) => {
  const { im } = test.as('pump-1');
  await im('POST', '/object', sensor, key);
  const before = count();
  expect((await im('POST', path, body, key)).status).toBe(422);
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
