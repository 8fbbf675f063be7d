import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Backends as Reference, startBackends } from '../../sandbox/backends/backends.ts';
import { type Backends, createBackends } from '../../src/backends/backends.ts';
import {
  attributesOf,
  type InformationModel,
  isMarked,
  isNamed,
  objectOf,
} from '../../src/backends/informationModel.ts';
import { Refusal } from '../../src/backends/refusal.ts';
import { type Json, keysOf, parseJson } from '../../src/protocol/json.ts';
import { recordingLog } from '../support/observed.ts';
import { callOf, rejection, settings } from './harness.ts';

let reference: Reference;
let backends: Backends;
const log = recordingLog();
const o1 = '5f0c1d52-6f0b-4c57-8f43-0d7f0a8a5d01';

beforeAll(async () => {
  reference = await startBackends({ seed: true });
  const { informationModelUrl, typeRegistryUrl, principalManagerUrl, token } = reference;
  const { url: tokenUrl, clientId, clientSecret } = token;
  const urls = { informationModelUrl, typeRegistryUrl, principalManagerUrl };
  const oauth = { token: '', tokenUrl, clientId, clientSecret };
  backends = createBackends({ ...settings, ...urls, ...oauth, maxAnswerBytes: 1 << 20 }, log, { random: () => 0 });
});
afterAll(async () => {
  await backends.close();
  await reference.close();
});

let messages = 0;

function as(deviceId: string) {
  messages += 1;
  const idempotencySeed = `00000000-0000-5000-8000-${String(messages).padStart(12, '0')}`;
  return backends.bind(callOf({ deviceId, idempotencySeed }));
}

async function hitsOf(informationModel: InformationModel, values: ReadonlyMap<string, Json>): Promise<Json[]> {
  const hits: Json[] = [];
  await informationModel.query('svc.device', 'pump', values, (hit) => void hits.push(hit));
  return hits;
}

const numberOf = (text: string) => new Map([['serial', parseJson(text)]]);

describe('the clients and the reference backends', () => {
  it('agree on how an identity is resolved, changed and deleted', async () => {
    const { principalManager } = as('gateway-1');
    const edge = await principalManager.resolve('edge');
    expect(edge).toMatchObject({ identity: 'edge', path: 'gateway-1/edge' });
    const sensor = await principalManager.resolve('edge', 'sensor-2');
    expect(sensor).toMatchObject({ parentId: edge?.id });
    expect(await principalManager.resolve('', 'edge/sensor-2')).toBe(undefined);
    await principalManager.updateIdentity(sensor?.id ?? '', '{"identity":"sensor-2","publicKey":"k"}');
    await principalManager.deleteIdentity(sensor?.id ?? '', false);
    expect(await principalManager.resolve('edge', 'sensor-2')).toBe(undefined);
    expect(await rejection(principalManager.deleteIdentity(sensor?.id ?? '', false))).toMatchObject({ status: 404 });
  });

  it('agree on how types are read and created', async () => {
    const { typeRegistry } = as('pump-1');
    expect(await typeRegistry.getType('svc.device', 'booster-pump', '1')).toEqual({
      typeId: 'booster-pump',
      version: '1.0.0',
      uniqueProperties: ['serial'],
      baseTypes: [expect.stringMatching(/^pump@/)],
    });
    expect(await typeRegistry.getType('svc.device', 'no-such-type', undefined)).toBe(undefined);
    const body = JSON.stringify({ typeId: 'lamp', version: '1.0.0', properties: {} });
    expect(await typeRegistry.createType('svc.device', body)).toEqual({ typeId: 'lamp', version: '1.0.0' });
    expect(await rejection(as('pump-1').typeRegistry.createType('svc.device', body))).toMatchObject({ status: 409 });
  });

  it('agree on how an object model is created, found, replaced and refused', async () => {
    const { informationModel, principalManager } = as('pump-1');
    const owner = (await principalManager.resolve(''))?.id ?? '';
    const properties = '{"serial":"A-1","runningHours":9007199254740993,"maximumPressure":1.0}';
    const body = `{"objectId":"${o1}","model":"svc.device","type":"pump@2","properties":${properties}}`;
    const created = await informationModel.createModel(owner, body);
    expect(created.text).toContain(`"properties":${properties}`);
    expect(created.value).toMatchObject({
      relatedModels: [{ model: 'svc.configuration', success: true, created: true }],
    });
    const [hit] = await hitsOf(informationModel, numberOf('"A-1"'));
    expect(hit?.text).toBe((await informationModel.getModel(o1, 'svc.device'))?.text);

    const replacement = `{"type":"pump@2","version":1,"properties":${properties.replace('993', '995')}}`;
    expect((await informationModel.replaceModel(o1, 'svc.device', replacement)).text).toContain('9007199254740995');
    const behind = await rejection(informationModel.replaceModel(o1, 'svc.device', replacement));
    expect(behind).toMatchObject({ status: 409, code: 'http_response_error' });
    const taken = body.replace(o1, o1.replace('5f', '6f'));
    const refusal = await rejection(informationModel.createModel(owner, taken));
    expect(refusal).toBeInstanceOf(Refusal);
    expect((refusal as Refusal).meta).toMatchObject({ objectId: o1, type: expect.stringMatching(/^pump@/) });

    const reference = { name: 'feeds', to: { objectId: o1, model: 'svc.device' }, attributes: { isContained: true } };
    await informationModel.addReferences(o1, 'svc.device', JSON.stringify([reference]));
    const references: unknown[] = [];
    await informationModel.references(o1, 'svc.device', ({ value }) => void references.push(value));
    expect(references).toMatchObject([reference]);
  });

  it('agree on how an object model without an owner is claimed', async () => {
    const { informationModel, principalManager } = as('pump-2');
    const [spare] = await hitsOf(informationModel, numberOf('"SPARE-1"'));
    const objectId = String(Object(spare?.value).objectId);
    await informationModel.claim(objectId, 'svc.device', (await principalManager.resolve(''))?.id ?? '');
    const other = as('pump-1');
    const otherId = (await other.principalManager.resolve(''))?.id ?? '';
    const refusal = await rejection(other.informationModel.claim(objectId, 'svc.device', otherId));
    expect(refusal.code).toBe('not_authorized');
  });

  it('isolate devices from each other', async () => {
    expect((await rejection(as('pump-2').informationModel.getModel(o1, 'svc.device'))).code).toBe('not_authorized');
    expect(await as('rival-1').informationModel.getModel(o1, 'svc.device')).toBe(undefined);
    expect(await as('rival-1').typeRegistry.getType('svc.device', 'mixer', '1.0.0')).toBe(undefined);
    expect((await rejection(as('stranger').principalManager.resolve(''))).code).toBe('not_authorized');
  });

  it('tolerate answers that are lost after a change', async () => {
    reference.faults.add({ backend: 'informationModel', method: 'PUT', reset: 'after-effect', times: 1 });
    const body = '{"type":"pump@2","version":2,"properties":{"serial":"A-1"}}';
    const { value } = await as('pump-1').informationModel.replaceModel(o1, 'svc.device', body);
    expect(value).toMatchObject({ version: 3 });
  });

  it('tolerate the revocation of every token', async () => {
    reference.token.revokeAll();
    expect(await as('pump-1').informationModel.getModel(o1, 'svc.device')).toBeDefined();
    expect(log.lines).toEqual([]);
  });
});

const id = '6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10';
const long = 'n'.repeat(1_024);

describe('a reference', () => {
  it.each([
    [['contains'], '"contains"', true],
    [['contains'], '"holds"', false],
    [['contains', 'holds'], '"holds"', true],
    [['contains'], '"cont\\u0061ins"', true],
    [[long], `"${long}"`, true],
    [[`${long}n`], `"${long}n"`, true],
    [[`${long}n`], `"${long}m"`, false],
    [['contains', `${long}n`], '"contains"', true],
    [['\ud800'], '"\\ud800"', true],
    [['contains', '\ud800'], '"\\ud800"', true],
  ])('has one of the names, row %#', (names, name, isOne) =>
    expect(isNamed(new Set(names))(parseJson(`{"name":${name}}`))).toBe(isOne),
  );

  it.each(['{}', '{"name":1}'])('without a name is a fault of the backend: %s', (text) =>
    expect(() => isNamed(new Set(['a']))(parseJson(text))).toThrow(new TypeError('expected a reference with a name')),
  );

  it.each([
    ['m', id],
    ['other', undefined],
  ])('leads to the object whose model is %s', (model, objectId) => {
    const reference = parseJson(`{"to":{"objectId":"${id}","model":"m"}}`);
    expect(objectOf(model)(reference)).toBe(objectId);
  });

  it.each([
    ...['{}', '{"to":1}', '{"to":{"model":"m"}}', '{"to":{"model":"other"}}', `{"to":{"objectId":"${id}"}}`],
    ...[`{"to":{"objectId":"${id}","model":1}}`, '{"to":{"objectId":"x","model":"m"}}'],
  ])('without an object is a fault of the backend: %s', (text) =>
    expect(() => objectOf('m')(parseJson(text))).toThrow(new TypeError('expected a reference to an object model')),
  );

  it.each([
    ['{}', false],
    ['{"attributes":{}}', false],
    ['{"attributes":{"isParent":true}}', true],
    ['{"attributes":{"isParent":false}}', false],
    ['{"attributes":{"isParent":"true"}}', false],
    ['{"attributes":{"another":true}}', false],
  ])('is marked by an attribute that is true: %s', (text, isOne) =>
    expect(isMarked(parseJson(text), keysOf(['isParent']))).toBe(isOne),
  );

  it('has an object of attributes, or none', () => {
    expect(attributesOf(parseJson('{}')).text).toBe('{}');
    const fault = new TypeError('expected attributes to be an object');
    expect(() => attributesOf(parseJson('{"attributes":[]}'))).toThrow(fault);
  });
});
