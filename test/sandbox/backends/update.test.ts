import { beforeEach, describe, expect, it } from 'vitest';
import { guid, useTestBackends } from './client.ts';

const test = useTestBackends();

const PUMP = `/objects/${guid(1)}/models/svc.device`;
const pump = { model: 'svc.device', type: 'pump@1', properties: { serial: 'A1', location: 'hall' } };
const put = (body: unknown, device = 'pump-1') => test.as(device).im('PUT', PUMP, body);
const stored = async () => (await test.as('pump-1').im('GET', PUMP)).json as { version: number; type: string };

beforeEach(async () => {
  const { im } = test.as('pump-1');
  await im('POST', '/object', { ...pump, objectId: guid(1), name: 'North', variables: { pressure: 3 } });
});

describe('replacing an object model', () => {
  it('answers the sent bytes', async () => {
    const properties = '{"maximumPressure":1.0,  "serial":"A1"}';
    const variables = '{"pressure":1e-400}';
    const { text } = await put(`{"version":1,"type":"pump","properties":${properties},"variables":${variables}}`);
    expect(text).toContain(`"properties":${properties},"variables":${variables},"version":2`);
  });

  const change = (type: string, properties: object = { serial: 'A1' }) => ({ type, version: 1, properties });
  it.each([
    ['no version {S10.3}', { type: 'pump', properties: { serial: 'A1' } }, '$.version'],
    ['a version that is no whole number', { type: 'pump', version: 1.5, properties: { serial: 'A1' } }, '$.version'],
    ['a version as text', { type: 'pump', version: '1', properties: { serial: 'A1' } }, '$.version'],
    ['no type {S10.3}', { version: 1, properties: { serial: 'A1' } }, '$.type'],
    ['a changed unique property {S4.9 S20.6}', change('pump', { serial: 'A2' }), '$.properties.serial'],
    ['another type without its version {S9.13}', change('booster-pump'), '$.type'],
    ['a type of another unique group {S10.8 S20.6}', change('gateway@1'), '$.type'],
    ['an unknown type', change('submarine@1'), '$.type'],
    ['an unknown version of its type', change('pump@7'), '$.type'],
    ['a value of another data type', change('pump', { serial: 'A1', location: 1 }), 'location'],
    ['a property of a newer type version', change('pump', { serial: 'A1', runningHours: 1 }), 'runningHours'],
  ])('refuses %s with 400 without effect', async (_, body, place) => {
    const { status, error } = await put(body);
    expect(status).toBe(400);
    expect(error?.detail).toContain(place);
    expect((await stored()).version).toBe(1);
  });
  it('changes to another given version of the type, up and down {S9.13 S22.4}', async () => {
    await put({ type: 'pump@2', version: 1, properties: { serial: 'A1', runningHours: 7 } });
    expect(await stored()).toMatchObject({ version: 2, type: 'pump@2.0.0', variables: {} });
    await put({ type: 'pump@1.0.0', version: 2, properties: { serial: 'A1' } });
    expect(await stored()).toMatchObject({ version: 3, type: 'pump@1.0.0' });
  });
  it('changes to a subtype in the same unique group and back {S5.8}', async () => {
    const booster = await put({ type: 'booster-pump@1', version: 1, properties: { serial: 'A1', stages: 2 } });
    expect(booster.json).toMatchObject({ type: 'booster-pump@1.0.0', version: 2 });
    expect((await put({ type: 'pump@2', version: 2, properties: { serial: 'A1' } })).status).toBe(200);
  });
  it('sets a missing unique value once, unless another object model has it', async () => {
    const { im } = test.as('pump-1');
    const mixer = { model: 'svc.device', type: 'mixer', properties: { plant: 'north' } };
    await im('POST', '/object', { ...mixer, objectId: guid(3) });
    await im('POST', '/object', { ...mixer, properties: { plant: 'north', position: 1 } });
    const set = (position: number, version: number) =>
      im('PUT', `/objects/${guid(3)}/models/svc.device`, {
        ...mixer,
        version,
        properties: { plant: 'north', position },
      });
    expect((await set(1, 1)).error?.title).toBe('Invalid modification');
    expect((await set(2, 1)).status).toBe(200);
    expect((await set(3, 2)).status).toBe(400);
  });
  it('creates missing related models and answers their results', async () => {
    await test.admin('POST', '/types?model=svc.service', { typeId: 'pump.log', version: '1.0.0' });
    await test.admin('POST', '/types', {
      ...{ typeId: 'logged-pump', version: '1.0.0', baseTypes: ['pump@2.0.0'] },
      relatedModels: { 'svc.service': { type: 'pump.log' } },
    });
    const { json } = await put({ type: 'logged-pump@1', version: 1, properties: { serial: 'A1' } });
    expect(json).toMatchObject({
      relatedModels: [
        { model: 'svc.configuration', success: true, created: false },
        { model: 'svc.service', success: true, created: true },
      ],
    });
    expect((await test.as('pump-1').im('GET', `/objects/${guid(1)}/models/svc.service`)).status).toBe(200);
  });
});

describe('claiming an object model', () => {
  const spare = () => test.backends.world.objects.list().find(({ owner }) => owner === undefined);
  const at = () => `/objects/${spare()?.objectId}/models/svc.device`;

  it('for an identity of another device is refused with 403, and for an unknown one with 404', async () => {
    const path = `${at()}/owner`;
    const { im } = test.as('pump-1');
    expect((await im('PUT', path, { ownerId: test.idOf('pump-2') })).status).toBe(403);
    expect((await im('PUT', path, { ownerId: test.idOf('rival-1') })).status).toBe(404);
    expect((await im('PUT', path, { ownerId: guid(9) })).status).toBe(404);
    expect((await im('PUT', path, {})).status).toBe(400);
    expect((await test.as('rival-1').im('PUT', path, { ownerId: test.idOf('rival-1') })).status).toBe(404);
    expect(spare()).toBeDefined();
  });
  it('of a deleted identity’s object is allowed only for the same device', async () => {
    const gateway = test.as('gateway-1');
    const path = `${at()}/owner`;
    await gateway.im('PUT', path, { ownerId: test.idOf('gateway-1/edge/sensor-1') });
    await gateway.pm('DELETE', `/devices/${test.idOf('gateway-1/edge/sensor-1')}`);
    expect((await test.as('pump-1').im('PUT', path, { ownerId: test.idOf('pump-1') })).status).toBe(409);
    expect((await gateway.im('PUT', path, { ownerId: test.idOf('gateway-1/edge') })).status).toBe(204);
  });
});
