import { beforeEach, expect, it } from 'vitest';
import { guid, useTestBackends } from './client.ts';

const test = useTestBackends();

const pump = { model: 'svc.device', type: 'pump', properties: { serial: 'A1', location: 'hall' } };

beforeEach(async () => void (await test.as('pump-1').im('POST', '/object', { ...pump, objectId: guid(1) })));

async function find(query: object, device = 'pump-1'): Promise<string[]> {
  const { json } = await test.as(device).im('POST', '/query', { model: 'svc.device', type: 'pump', ...query });
  return (json as { data: { objectId: string }[] }).data.map(({ objectId }) => objectId);
}

it('a query finds neither other models nor the same letters in another case', async () => {
  expect(await find({ model: 'svc.configuration', properties: { serial: 'A1' } })).toEqual([]);
  expect(await find({ properties: { serial: 'a1' } })).toEqual([]);
});

it('earlier queries with other sets of names do not affect a query', async () => {
  const properties = { serial: 'A1', location: 'hall', a: 1, b: 1, c: 1 };
  const names = Object.entries(properties);
  for (let mask = 1; mask < 32; mask++) {
    const asked = Object.fromEntries(names.filter((_, i) => mask & (1 << i)));
    expect(await find({ properties: asked })).toEqual(mask < 4 ? [guid(1)] : []);
  }
});

it('a query shows a device the object models of its tenant without an owner', async () => {
  expect(await find({ properties: { serial: 'SPARE-1' } }, 'pump-2')).toHaveLength(1);
  expect(await find({ properties: { serial: 'SPARE-1' } }, 'rival-1')).toHaveLength(0);
});

it('a query shows a gateway the object models of identities connected through it', async () => {
  const body = { ...pump, objectId: guid(4), properties: { serial: 'G1' } };
  await test.as('gateway-1').im('POST', `/object?owner=${test.idOf('gateway-1/edge')}`, body);
  expect(await find({ properties: { serial: 'G1' } }, 'gateway-1')).toEqual([guid(4)]);
});

it.each([
  ['a type with a version', { model: 'svc.device', type: 'pump@1', properties: { serial: 'A1' } }],
  ['no properties', { model: 'svc.device', type: 'pump', properties: {} }],
  ['a value that is an object', { model: 'svc.device', type: 'pump', properties: { serial: { a: 1 } } }],
  ['a value that is null', { model: 'svc.device', type: 'pump', properties: { serial: null } }],
  ['no model', { type: 'pump', properties: { serial: 'A1' } }],
])('a query with %s is refused with 400', async (_, body) =>
  expect((await test.as('pump-1').im('POST', '/query', body)).status).toBe(400),
);
