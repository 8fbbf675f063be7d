import { beforeEach, describe, expect, it } from 'vitest';
import { useTestBackends } from './client.ts';

const test = useTestBackends();

const TYPES = '/modelDefinitions/svc.device/types';
const text = { dataType: 'string' };
const create = (definition: unknown, device = 'pump-1') => test.as(device).tr('POST', TYPES, definition);
const read = (path: string, device = 'pump-1') => test.as(device).tr('GET', `${TYPES}/${path}`);
const versionOf = async (path: string) => ((await read(path)).json as { version?: string }).version;

describe('reading types', () => {
  it('gets 400 for an invalid version', async () => {
    for (const version of ['latest', '1.0', '01', '-1', '1.0.0.0', '%2e%2e'])
      expect((await read(`pump/versions/${version}`)).status).toBe(400);
  });
  it('shows the unique properties of a type, including those of its base types {S5.3}', async () => {
    expect((await read('booster-pump')).json).toMatchObject({ uniqueProperties: ['serial'] });
    expect((await read('sensor')).json).toMatchObject({ uniqueProperties: [] });
    await create({ typeId: 'twin', version: '1.0.0', baseTypes: ['booster-pump@1.0.0'], unique: ['stages'] });
    expect((await read('twin')).json).toMatchObject({ uniqueProperties: ['serial', 'stages'] });
  });
});

describe('creating types', () => {
  it('answers the sent bytes, with the model and the unique properties {S5.1 S11.2}', async () => {
    const sent =
      '{"typeId":"fan","version":"1.0.0","properties":{ "rpm":{"dataType":"number","default":1.0}},"note":12345678901234567890}';
    const { status, text } = await create(sent);
    expect(status).toBe(201);
    const answer = `${sent.slice(0, -1)},"model":"svc.device","uniqueProperties":[]}`;
    expect(text).toBe(answer);
    expect((await read('fan')).text).toBe(answer);
  });
  it("refuses a tenant's version of a type that all tenants know with 403", async () => {
    const pump = { typeId: 'pump', version: '3.0.0', unique: ['serial'], properties: { serial: text } };
    expect((await create(pump)).status).toBe(403);
    expect(await versionOf('pump')).toBe('2.0.0');
  });

  const fan = { typeId: 'fan', version: '1.0.0' };
  const withProperty = (rpm: object) => ({ ...fan, properties: { rpm } });
  const ofPump = { ...fan, baseTypes: ['pump@2.0.0'] };
  it.each([
    ['no type id {S5.1}', { version: '1.0.0' }, '$.typeId'],
    ['an @ in the type id', { ...fan, typeId: 'a@b' }, '$.typeId'],
    ['a version of two numbers {S5.1}', { ...fan, version: '1.0' }, '$.version'],
    ['a version with a leading zero', { ...fan, version: '1.01.0' }, '$.version'],
    ['an unknown data type {S5.4}', withProperty({ dataType: 'float' }), '$.properties.rpm.dataType'],
    ['a property without data type', withProperty({}), '$.properties.rpm.dataType'],
    [
      'isMandatory as text {S5.4}',
      { ...fan, variables: { rpm: { dataType: 'number', isMandatory: 'yes' } } },
      '$.variables.rpm.isMandatory',
    ],
    ['a default of another data type', withProperty({ dataType: 'integer', default: 1.5 }), '$.properties.rpm.default'],
    ['a base type without version {S5.2}', { ...fan, baseTypes: ['pump'] }, '$.baseTypes[0]'],
    ['an unknown base type {S5.2}', { ...fan, baseTypes: ['pump@2.0.0', 'pump@9.0.0'] }, '$.baseTypes[1]'],
    ['a unique name that is no property {S5.3}', { ...fan, unique: ['serial'] }, '$.unique[0]'],
    ['a unique name twice', { ...fan, unique: ['a', 'a'], properties: { a: text } }, '$.unique[1]'],
    ["a unique name of a base type's group", { ...ofPump, unique: ['serial'] }, '$.unique[0]'],
    [
      'another data type than the base type',
      { ...ofPump, properties: { serial: { dataType: 'integer' } } },
      '$.properties.serial',
    ],
    [
      'a method input without data type {S5.5}',
      { ...fan, methods: { start: { input: { speed: {} } } } },
      '$.methods.start.input.speed.dataType',
    ],
    [
      'a related model without type {S5.6}',
      { ...fan, relatedModels: { 'svc.configuration': {} } },
      '$.relatedModels.svc.configuration.type',
    ],
    [
      'a mapping from what is no property {S5.6}',
      { ...fan, relatedModels: { m: { type: 't', uniqueMapping: { serial: 'serial' } } } },
      '$.relatedModels.m.uniqueMapping.serial',
    ],
    ['another model than the path {S5.1}', { ...fan, model: 'svc.configuration' }, '$.model'],
    ['references as a list', { ...fan, references: ['parent'] }, '$.references'],
  ])('refuses %s with 400 and its JSON path', async (_, definition, path) => {
    const { status, error } = await create(definition);
    expect(status).toBe(400);
    expect(error?.detail).toContain(path);
    expect((await read('fan')).status).toBe(404);
  });
  it('lists every fault of the shape', async () => {
    const { error } = await create({ version: 1, properties: { rpm: { dataType: 'float' } } });
    expect(error?.meta).toEqual({ paths: ['$.typeId', '$.version', '$.properties.rpm.dataType'] });
  });
});

describe('unique groups across versions', () => {
  const site = { typeId: 'site', version: '1.0.0', unique: ['code'], properties: { code: text } };
  const shed = { typeId: 'shed', version: '1.0.0', properties: { code: text } };
  const annex = { typeId: 'annex', version: '1.0.0', baseTypes: ['site@1.0.0'] };

  beforeEach(async () => {
    const versions = ['1.1.0', '2.0.0'].map((version) => ({ ...site, version }));
    for (const definition of [site, ...versions, shed, annex]) expect((await create(definition)).status).toBe(201);
  });
  it('refuses a version that leaves the group of an earlier one, or that the next one would leave', async () => {
    for (const definition of [
      { typeId: 'annex', version: '2.0.0' },
      { ...shed, version: '0.9.0', unique: ['code'] },
    ]) {
      const { status, error } = await create(definition);
      expect([status, error?.title]).toEqual([400, 'Invalid modification']);
    }
  });
  it('accepts a version whose new base type brings the first group {S5.11}', async () =>
    expect((await create({ ...shed, version: '2.0.0', baseTypes: ['site@1.0.0'] })).status).toBe(201));
});
