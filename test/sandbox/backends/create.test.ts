import { beforeEach, describe, expect, it } from 'vitest';
import { guid, useTestBackends } from './client.ts';

const test = useTestBackends();
let atFirst = 0;
beforeEach(() => (atFirst = test.backends.world.objects.count));

const pump = { model: 'svc.device', type: 'pump', properties: { serial: 'A1' } };
const create = (body: unknown, device = 'pump-1', query = '') => test.as(device).im('POST', `/object${query}`, body);

describe('creating an object model', () => {
  it('answers it with version 1, the full type version, its owner and the sent bytes {S4.5 S4.6 S9.8 S22.2}', async () => {
    const properties = '{ "serial":"A1","runningHours":12345678901234567890, "maximumPressure":1.0}';
    const { status, text } = await create(
      `{"name":"P","objectId":"${guid(1)}","model":"svc.device","type":"pump","properties":${properties},"variables":{"pressure":1e400}}`,
    );
    expect(status).toBe(201);
    expect(text).toBe(
      `{"name":"P","objectId":"${guid(1)}","model":"svc.device","type":"pump@2.0.0","properties":${properties},` +
        `"variables":{"pressure":1e400},"version":1,"ownerId":"${test.idOf('pump-1')}","path":"pump-1",` +
        '"relatedModels":[{"model":"svc.configuration","success":true,"code":"ok","details":"","created":true}]}',
    );
  });
  it('uses the latest type version, the latest of a given major version, or a given full version {S4.4 S9.12 S22.4}', async () => {
    const typeOf = async (type: string, serial: string) =>
      ((await create({ ...pump, type, properties: { serial } })).json as { type: string }).type;
    const properties = { serial: { dataType: 'string' } };
    for (const version of ['1.2.0', '1.10.0', '2.0.0'])
      await test.admin('POST', '/types', { typeId: 'fan', version, properties });
    expect(await typeOf('fan', 'a')).toBe('fan@2.0.0');
    expect(await typeOf('fan@1', 'b')).toBe('fan@1.10.0');
    expect(await typeOf('fan@1.2.0', 'c')).toBe('fan@1.2.0');
  });
  it('can name the owning identity in the query {S4.7}', async () => {
    const sensor = { model: 'svc.device', type: 'sensor', properties: { quantity: 'temperature' } };
    const ownerId = test.idOf('gateway-1/edge/sensor-1');
    const { json } = await create(sensor, 'gateway-1', `?owner=${ownerId}`);
    expect(json).toMatchObject({ ownerId, path: 'gateway-1/edge/sensor-1' });
  });
  it('refuses an owner of another device with 403, an unknown one and one of another tenant with 404 {S9.5}', async () => {
    expect((await create(pump, 'pump-1', `?owner=${test.idOf('pump-2')}`)).status).toBe(403);
    expect((await create(pump, 'pump-1', `?owner=${guid(99)}`)).status).toBe(404);
    expect((await create(pump, 'pump-1', `?owner=${test.idOf('rival-1')}`)).status).toBe(404);
    expect(test.backends.world.objects.count).toBe(atFirst);
  });
  it('refuses the same object id and model with 409 and names the existing one, in any letter case', async () => {
    const objectId = 'abcdefab-0000-4000-8000-000000000001';
    await create({ ...pump, objectId });
    const again = await create({ ...pump, objectId: objectId.toUpperCase(), properties: { serial: 'A2' } });
    expect(again.status).toBe(409);
    expect(again.error?.meta).toEqual({ objectId, type: 'pump@2.0.0' });
    const { json } = await test.as('pump-1').im('GET', `/objects/${objectId.toUpperCase()}/models/svc.device`);
    expect(json).toMatchObject({ objectId });
  });
  it.each([
    ['another version of the type {S5.7}', { ...pump, type: 'pump@1' }],
    ['a subtype in the same unique group {S5.7}', { ...pump, type: 'booster-pump' }],
  ])('refuses unique values in use with 409: %s', async (_, body) => {
    await create({ ...pump, objectId: guid(1) });
    const { status, error } = await create(body);
    expect(status).toBe(409);
    expect(error?.meta).toEqual({ objectId: guid(1), type: 'pump@2.0.0' });
  });
  it('allows the same values in different unique groups and different tenants {S5.7}', async () => {
    await create(pump);
    expect((await create({ ...pump, type: 'boiler' })).status).toBe(201);
    expect((await create(pump, 'rival-1')).status).toBe(201);
  });
  it.each([
    ['a missing mandatory property {S5.4}', { ...pump, properties: {} }, '$.properties.serial'],
    ['a mandatory property that is null', { ...pump, properties: { serial: null } }, '$.properties.serial'],
    ['a property of another data type', { ...pump, properties: { serial: 1 } }, '$.properties.serial'],
    ['a fraction for an integer', { ...pump, properties: { serial: 'A1', runningHours: 1.5 } }, 'runningHours'],
    ['a property the type does not declare {S4.8}', { ...pump, properties: { serial: 'A1', Serial: 'x' } }, 'Serial'],
    ['a newer property', { ...pump, type: 'pump@1', properties: { serial: 'A1', runningHours: 1 } }, 'runningHours'],
    ['a variable of another data type {S4.5}', { ...pump, variables: { pressure: 'high' } }, '$.variables.pressure'],
    ['an unknown type {S9.4}', { ...pump, type: 'submarine' }, '$.type'],
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

  it('are created with the object id, name and owner, the defaults and the mapped properties {S4.2 S5.6 S9.8}', async () => {
    await create({ ...pump, objectId: guid(1), name: 'North' });
    expect((await read(guid(1), 'svc.configuration')).json).toEqual({
      ...{ name: 'North', objectId: guid(1), model: 'svc.configuration', type: 'pump.settings@1.0.0' },
      ...{ properties: { reportInterval: 60, unit: 'bar', serial: 'A1' }, variables: {}, version: 1 },
      ownerId: test.idOf('pump-1'),
      path: 'pump-1',
    });
  });
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
