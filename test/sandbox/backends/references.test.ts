import { beforeEach, expect, it } from 'vitest';
import { guid, useTestBackends } from './client.ts';

const test = useTestBackends();

const OUT = `/objects/${guid(1)}/models/svc.device/references/out`;
const to = (n: number) => ({ objectId: guid(n), model: 'svc.device' });
const write = (body: unknown, device = 'pump-1') => test.as(device).im('POST', OUT, body);
const read = async () => (await test.as('pump-1').im('GET', OUT)).json;

/** 1, 2: pumps of pump-1; 3: its sensor; 4: a pump of pump-2; 5: a pump of rival-1. */
beforeEach(async () => {
  const of = { model: 'svc.device', type: 'pump' };
  const pump = (device: string, n: number) =>
    test.as(device).im('POST', '/object', { objectId: guid(n), ...of, properties: { serial: `A${n}` } });
  await pump('pump-1', 1);
  await pump('pump-1', 2);
  await pump('pump-2', 4);
  await pump('rival-1', 5);
  const sensor = { objectId: guid(3), model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } };
  await test.as('pump-1').im('POST', '/object', sensor);
});

it('reference names of base types are accepted', async () => {
  const booster = { objectId: guid(6), model: 'svc.device', type: 'booster-pump', properties: { serial: 'B' } };
  const { im } = test.as('pump-1');
  await im('POST', '/object', booster);
  const out = `/objects/${guid(6)}/models/svc.device/references/out`;
  const { status } = await im('POST', out, [{ name: 'feeds', to: to(1) }]);
  expect(status).toBe(201);
});

it.each([
  ['a target in another model', [{ name: 'feeds', to: { ...to(2), model: 'svc.other' } }], 404],
  ['a target of another tenant', [{ name: 'feeds', to: to(5) }], 404],
  ['a target of another device', [{ name: 'feeds', to: to(4) }], 403],
  ['a missing name {S6.1}', [{ to: to(2) }], 400],
  ['a missing target {S6.1}', [{ name: 'feeds' }], 400],
  ['attributes that are no object {S6.1}', [{ name: 'feeds', to: to(2), attributes: [] }], 400],
  ['a single reference outside an array {S12.2}', { name: 'feeds', to: to(2) }, 400],
  ['an element that is no object', ['feeds'], 400],
  ['a name that the parent does not declare', [{ name: 'mounted', to: to(2), attributes: { isParent: true } }], 400],
])('a request with %s is refused, and none of the others is created', async (_, body, status) => {
  const whole = Array.isArray(body) ? [{ name: 'feeds', to: to(3) }, ...body] : body;
  expect((await write(whole)).status).toBe(status);
  expect(await read()).toEqual({ data: [] });
});

it("the parent's type declares the name of a parent reference {S15.5}", async () => {
  const out = `/objects/${guid(3)}/models/svc.device/references/out`;
  const { im } = test.as('pump-1');
  expect((await im('POST', out, [{ name: 'contains', to: to(1), attributes: { isParent: true } }])).status).toBe(201);
  expect((await im('POST', out, [{ name: 'contains', to: to(1), attributes: { isParent: false } }])).status).toBe(400);
});

it('an empty list writes nothing', async () => {
  const { status, json } = await write([]);
  expect([status, json]).toEqual([200, { data: [] }]);
});

it('targets that now belong to another device are left out', async () => {
  const { world } = test.backends;
  const spare = world.objects.list().find(({ owner }) => owner === undefined);
  const target = { objectId: spare?.objectId, model: 'svc.device' };
  await write([{ name: 'feeds', to: target }]);
  expect(await read()).toMatchObject({ data: [{ to: target }] });
  const ownerId = world.principals.device('pump-2')?.id;
  await test.as('pump-2').im('PUT', `/objects/${spare?.objectId}/models/svc.device/owner`, { ownerId });
  expect(await read()).toEqual({ data: [] });
});

it('more than 1,000 references are refused', async () => {
  const many = Array.from({ length: 1001 }, () => ({ name: 'feeds', to: to(2) }));
  expect((await write(many)).status).toBe(400);
  expect((await write(many.slice(1))).status).toBe(201);
});
