import { expect, it } from 'vitest';
import { guid, useTestBackends } from './client.ts';

const test = useTestBackends();

const resolve = (query: string, device = 'gateway-1') => test.as(device).pm('GET', `/devices?${query}`);
const principal = (path: string) => test.backends.world.principals.list().find((p) => p.path === path);

it.each([
  ['device=gateway-1', 'gateway-1'],
  ['device=gateway-1&path=', 'gateway-1'],
  ['device=gateway-1&path=edge', 'gateway-1/edge'],
  ['device=gateway-1&path=edge/sensor-1', 'gateway-1/edge/sensor-1'],
  ['device=gateway-1&path=edge%2Fsensor-1', 'gateway-1/edge/sensor-1'],
  ['device=gateway-1&identity=edge', 'gateway-1/edge'],
  ['device=gateway-1&path=edge&identity=sensor-2', 'gateway-1/edge/sensor-2'],
])('the path %s resolves to %s {S7.1 S7.3}', async (query, path) => {
  const found = principal(path);
  const { id, identity, parentId } = found ?? {};
  expect((await resolve(query)).json).toEqual({ data: [{ id, identity, path, parentId }] });
});

it('a duplicate query parameter is refused', async () =>
  expect((await resolve('device=gateway-1&path=edge&path=')).status).toBe(400));

it("resolving another device's identities, existing or not, is refused with the same 403 {S19.3}", async () => {
  for (const device of ['pump-1', 'rival-1', 'nobody', ''])
    expect((await resolve(`device=${device}`)).status).toBe(403);
});

it('an update sets attributes, removes those that are null and keeps those that are absent {S7.2 S13.5}', async () => {
  const { pm } = test.as('gateway-1');
  const path = `/devices/${test.idOf('gateway-1/edge')}`;
  expect((await pm('PUT', path, { identity: 'edge', publicKey: 'k1', note: 1 })).json).toEqual({
    id: test.idOf('gateway-1/edge'),
    identity: 'edge',
    path: 'gateway-1/edge',
    parentId: test.idOf('gateway-1'),
  });
  await pm('PUT', path, { publicKey: 'k2' });
  expect([...(principal('gateway-1/edge')?.attributes ?? [])]).toEqual([
    ['publicKey', '"k2"'],
    ['note', '1'],
  ]);
  await pm('PUT', path, { note: null });
  expect([...(principal('gateway-1/edge')?.attributes ?? [])]).toEqual([['publicKey', '"k2"']]);
});

it('a device can update itself {S13.4}', async () => {
  const { pm } = test.as('gateway-1');
  expect((await pm('PUT', `/devices/${test.idOf('gateway-1')}`, { publicKey: 'k' })).status).toBe(200);
});

it.each([
  ['another identity', { identity: 'core' }],
  ['an identity that is no string', { identity: 1 }],
  ['a public key that is no string {S7.2}', { publicKey: { a: 1 } }],
  ['an id', { id: guid(1) }],
  ['a path', { path: 'rival-1' }],
  ['a tenant', { tenant: 'globex' }],
  ['a list', []],
])('%s in an update is refused with 400', async (_, body) => {
  const before = principal('gateway-1/edge');
  expect((await test.as('gateway-1').pm('PUT', `/devices/${test.idOf('gateway-1/edge')}`, body)).status).toBe(400);
  expect(principal('gateway-1/edge')).toBe(before);
});

it('an identity is not deleted while others are connected through it', async () => {
  const { pm } = test.as('gateway-1');
  const edge = `/devices/${test.idOf('gateway-1/edge')}`;
  expect((await pm('DELETE', edge)).status).toBe(409);
  for (const name of ['sensor-1', 'sensor-2']) await pm('DELETE', `/devices/${test.idOf(`gateway-1/edge/${name}`)}`);
  expect((await pm('DELETE', edge)).status).toBe(204);
});

it('deleting a directly connected device is refused with 403 {S14.1}', async () => {
  expect((await test.as('gateway-1').pm('DELETE', `/devices/${test.idOf('gateway-1')}`)).status).toBe(403);
  expect(principal('gateway-1')).toBeDefined();
});
