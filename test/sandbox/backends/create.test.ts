import { beforeEach, describe, expect, it } from 'vitest';
import { guid, useTestBackends } from './client.ts';

const test = useTestBackends();
let atFirst = 0;
beforeEach(() => (atFirst = test.backends.world.objects.count));

const pump = { model: 'svc.device', type: 'pump', properties: { serial: 'A1' } };
const create = (body: unknown, device = 'pump-1', query = '') => test.as(device).im('POST', `/object${query}`, body);

describe('creating an object model', () => {
  it('refuses an owner of another tenant with 404 {S9.5}', async () => {
    expect((await create(pump, 'pump-1', `?owner=${test.idOf('rival-1')}`)).status).toBe(404);
    expect(test.backends.world.objects.count).toBe(atFirst);
  });
  it('refuses unique values of another version of the type with 409 {S5.7}', async () => {
    await create({ ...pump, objectId: guid(1) });
    const { status, error } = await create({ ...pump, type: 'pump@1' });
    expect(status).toBe(409);
    expect(error?.meta).toEqual({ objectId: guid(1), type: 'pump@2.0.0' });
  });
  it('allows the same values in different unique groups and different tenants {S5.7}', async () => {
    await create(pump);
    expect((await create({ ...pump, type: 'boiler' })).status).toBe(201);
    expect((await create(pump, 'rival-1')).status).toBe(201);
  });
  it.each([
    ['a mandatory property that is null', { ...pump, properties: { serial: null } }, '$.properties.serial'],
    ['a fraction for an integer', { ...pump, properties: { serial: 'A1', runningHours: 1.5 } }, 'runningHours'],
    ['a newer property', { ...pump, type: 'pump@1', properties: { serial: 'A1', runningHours: 1 } }, 'runningHours'],
    ['a variable of another data type {S4.5}', { ...pump, variables: { pressure: 'high' } }, '$.variables.pressure'],
    ['an unknown major version', { ...pump, type: 'pump@7' }, '$.type'],
    ['a type reference that is none', { ...pump, type: 'pump@latest' }, '$.type'],
    ['a type id in other letters {S4.4}', { ...pump, type: 'Pump' }, '$.type'],
    ['a type of another model', { ...pump, model: 'svc.configuration' }, '$.type'],
    ['a missing type {S9.2}', { model: 'svc.device' }, '$.type'],
    ['a missing model {S9.2}', { type: 'pump', properties: { serial: 'A1' } }, '$.model'],
    ['an object id that is no GUID {S4.2}', { ...pump, objectId: '../pump' }, '$.objectId'],
    ['properties that are no object {S4.5}', { ...pump, properties: ['serial'] }, '$.properties'],
    ['a name that is no string {S4.1}', { ...pump, name: 7 }, '$.name'],
  ])('refuses %s with 400 and the JSON path', async (_, body, place) => {
    const { status, error } = await create(body);
    expect(status).toBe(400);
    expect(error?.detail).toContain(place);
    expect(test.backends.world.objects.count).toBe(atFirst);
  });
  it('takes the object id from the path, and svc.device when no model is given', async () => {
    const { im } = test.as('pump-1');
    const { json, status } = await im('POST', `/objects/${guid(5)}`, { type: 'pump', properties: { serial: 'A1' } });
    expect(status).toBe(201);
    expect(json).toMatchObject({ objectId: guid(5), model: 'svc.device', version: 1 });
    const differing = await im('POST', `/objects/${guid(6)}`, { ...pump, objectId: guid(7) });
    expect(differing.error?.detail).toContain('$.objectId');
    expect((await im('POST', '/objects/no-guid', pump)).status).toBe(400);
  });
  it('accepts inherited properties of a base type and its rules {S5.2}', async () => {
    const properties = { serial: 'B1', stages: 3, runningHours: 1 };
    const booster = { model: 'svc.device', type: 'booster-pump', properties };
    expect((await create(booster)).status).toBe(201);
    const bare = await create({ ...booster, properties: { stages: 3 } });
    expect(bare.error?.detail).toContain('serial');
  });
});

describe('related models', () => {
  const read = (objectId: string, model: string, device = 'pump-1') =>
    test.as(device).im('GET', `/objects/${objectId}/models/${model}`);

  it('copy the sent bytes of mapped values {S5.6}', async () => {
    await create(
      `{"objectId":"${guid(1)}","model":"svc.device","type":"pump","properties":{"serial":{ "value":"A\\u0031"}}}`,
    );
    expect((await read(guid(1), 'svc.configuration')).text).toContain('"serial":{ "value":"A\\u0031"}');
  });
  it('are found by object id, and then left unchanged {S9.8}', async () => {
    const properties = { serial: 'other', unit: 'psi' };
    const settings = { model: 'svc.configuration', type: 'pump.settings', properties };
    await create({ ...settings, objectId: guid(1) });
    const { json } = await create({ ...pump, objectId: guid(1) });
    expect(json).toMatchObject({
      relatedModels: [{ model: 'svc.configuration', success: true, code: 'ok', details: '', created: false }],
    });
    expect((await read(guid(1), 'svc.configuration')).json).toMatchObject({ version: 1, properties: { unit: 'psi' } });
  });
  it('are found by their unique mapping, under any object id {S15.16}', async () => {
    const settings = { model: 'svc.configuration', type: 'pump.settings', properties: { serial: 'A1' } };
    await create({ ...settings, objectId: guid(2) });
    const { json } = await create({ ...pump, objectId: guid(1) });
    expect(json).toMatchObject({ relatedModels: [{ success: true, created: false }] });
    expect((await read(guid(1), 'svc.configuration')).status).toBe(404);
  });
  it('fail independently, each with its reason {S9.14}', async () => {
    const { status, json } = await create({ ...pump, type: 'boiler', objectId: guid(1) });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      version: 1,
      relatedModels: [
        { model: 'svc.configuration', success: false, code: 'validation_error', created: false },
        { model: 'svc.maintenance', success: false, code: 'http_response_error', created: false },
      ],
    });
    expect((await read(guid(1), 'svc.configuration')).status).toBe(404);
  });
  it('of another device are not changed', async () => {
    const settings = { model: 'svc.configuration', type: 'pump.settings', properties: { serial: 'A1' } };
    await create({ ...settings, objectId: guid(2) }, 'pump-2');
    const { json } = await create({ ...pump, objectId: guid(1) });
    expect(json).toMatchObject({ relatedModels: [{ success: false, code: 'not_authorized', created: false }] });
    expect(JSON.stringify(json)).not.toContain(guid(2));
  });
});
