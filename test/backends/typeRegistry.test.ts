import { describe, expect, it, vi } from 'vitest';
import { createCache } from '../../src/backends/cache.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import type { Call, Send } from '../../src/backends/sending.ts';
import { inputsIn, isFullVersion, lineages, type TypeMethods } from '../../src/backends/typeRegistry.ts';
import { parseTypeRef, type TypeRef } from '../../src/protocol/fields.ts';
import { parseJson } from '../../src/protocol/json.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, rejection, scripted } from './harness.ts';

withFakeTimers();

const types = '/modelDefinitions/svc.device/types';
const pump = (version: string) => ({ typeId: 'pump', version, uniqueProperties: ['serial'], properties: {} });

it.each([
  ['1.0.0', true],
  ['10.200.3000', true],
  ['1', false],
  ['1.0', false],
  ['v1.0.0', false],
  ['1.0.0-rc', false],
  [undefined, false],
])('%s is a full version: %s', (version, isFull) => expect(isFullVersion(version)).toBe(isFull));

describe('the type registry', () => {
  it('fails as a backend when the unique properties are not a list', async () => {
    const reply = [200, { typeId: 'pump', version: '1.0.0', uniqueProperties: 'serial' }] as const;
    const { typeRegistry } = scripted([{ call: `GET ${types}/pump`, reply }]);
    const failure = await rejection(typeRegistry.getType('svc.device', 'pump', undefined));
    expect(failure.code).toBe('internal_platform_error');
  });

  it.each([
    ['uniqueProperties', Array(1_001).fill('a'), 'has more than 1000 values'],
    ['baseTypes', ['a'.repeat(65_533)], 'has more than 65536 bytes'],
  ])('is not read beyond a limit: %s', async (name, value, excess) => {
    const reply = [200, { ...pump('1.0.0'), [name]: value }] as const;
    const { typeRegistry } = scripted([{ call: `GET ${types}/pump`, reply }], { maxAnswerBytes: 1e6 });
    const failure = await rejection(typeRegistry.getType('svc.device', 'pump', undefined));
    const expected = ['response_too_large', `type registry: ${name} of the type definition ${excess}`];
    expect([failure.code, failure.details]).toEqual(expected);
  });

  it('is asked once for a full version, and again after a while for the latest or the latest of a major version', async () => {
    const latest = (version: string) => [
      { call: `GET ${types}/pump`, reply: [200, pump(version)] } as const,
      { call: `GET ${types}/pump/versions/1`, reply: [200, pump(version)] } as const,
    ];
    const { backends } = scripted([
      { call: `GET ${types}/pump/versions/1.0.0`, reply: [200, pump('1.0.0')] },
      ...latest('1.0.0'),
      ...latest('1.1.0'),
    ]);
    const read = async () => {
      const { typeRegistry } = backends.bind(callOf());
      const found: (string | undefined)[] = [];
      for (const version of ['1.0.0', undefined, '1'])
        found.push((await typeRegistry.getType('svc.device', 'pump', version))?.version);
      return found;
    };
    expect(await read()).toEqual(['1.0.0', '1.0.0', '1.0.0']);
    vi.advanceTimersByTime(29_999);
    expect(await read()).toEqual(['1.0.0', '1.0.0', '1.0.0']);
    vi.advanceTimersByTime(1);
    expect(await read()).toEqual(['1.0.0', '1.1.0', '1.1.0']);
  });

  it('is asked for each model definition separately', async () => {
    const call = (model: string) => `GET /modelDefinitions/${model}/types/pump/versions/1.0.0`;
    const { typeRegistry } = scripted([
      { call: call('svc.device'), reply: [200, pump('1.0.0')] },
      { call: call('svc.history'), reply: [200, { ...pump('1.0.0'), uniqueProperties: [] }] },
    ]);
    await typeRegistry.getType('svc.device', 'pump', '1.0.0');
    expect(await typeRegistry.getType('svc.history', 'pump', '1.0.0')).toMatchObject({ uniqueProperties: [] });
  });

  it('is asked for each device separately: another tenant’s type of the same name is another type', async () => {
    const call = `GET ${types}/pump/versions/1.0.0`;
    const { backends } = scripted([
      { call, headers: { 'x-svc-device-id': 'd1' }, reply: [200, pump('1.0.0')] },
      { call, headers: { 'x-svc-device-id': 'd2' }, reply: [404] },
    ]);
    const read = (deviceId: string) =>
      backends.bind(callOf({ deviceId })).typeRegistry.getType('svc.device', 'pump', '1.0.0');
    expect(await read('d1')).toMatchObject({ uniqueProperties: ['serial'] });
    expect(await read('d2')).toBe(undefined);
  });

  it('creates a type version, which is then the latest for its device', async () => {
    const body = '{"typeId":"pump", "version":"2.0.0"}';
    const { typeRegistry } = scripted([
      { call: `GET ${types}/pump`, reply: [200, pump('1.0.0')] },
      { call: `POST ${types}`, body, reply: [201, { typeId: 'pump', version: '2.0.0' }] },
      { call: `GET ${types}/pump`, reply: [200, pump('2.0.0')] },
    ]);
    await typeRegistry.getType('svc.device', 'pump', undefined);
    expect(await typeRegistry.createType('svc.device', body)).toEqual({ typeId: 'pump', version: '2.0.0' });
    expect(await typeRegistry.getType('svc.device', 'pump', undefined)).toMatchObject({ version: '2.0.0' });
  });
});

type Registry = Readonly<Record<string, object>>;

const file = { dataType: 'file' };
const text = { dataType: 'string' };
const number = { dataType: 'number' };

async function lineageOf(type: string, registry: Registry) {
  const asked: string[] = [];
  const send = (async ({ path, read }: { path: string; read: { result(answer: unknown): unknown } }) => {
    const [, id = '', version] = /types\/([^/]+)(?:\/versions\/(.*))?$/.exec(decodeURIComponent(path)) ?? [];
    const ref = version === undefined ? id : `${id}@${version}`;
    asked.push(ref);
    const definition = registry[ref];
    return { value: definition && read.result(parseJson(JSON.stringify(definition))) };
  }) as unknown as Send;
  const call = { deviceId: 'd1', deadline: createDeadline(10) } as unknown as Call;
  const read = lineages(send, call, createCache<TypeMethods>(100), 1_000);
  return { ...(await read('svc.device', parseTypeRef(type) as TypeRef)), asked };
}

const inputsOf = async (type: string, registry: Registry, method = 'm') => {
  const inputs = inputsIn(await lineageOf(type, registry), method);
  return inputs && Object.fromEntries(inputs);
};

describe('a method', () => {
  it('that a type redeclares keeps the inputs of its base types; the nearest declaration of an input counts', async () => {
    const registry = {
      child: { baseTypes: ['parent@1.0.0', 'aunt'], methods: { m: { input: { own: text, shared: number } } } },
      'parent@1.0.0': { baseTypes: ['root'], methods: { m: { input: { shared: text, old: number } } } },
      aunt: { methods: { m: { input: { old: text, hers: file } } } },
      root: { baseTypes: ['child'], methods: { m: { input: { hers: text, oldest: text, own: file } } } },
    };
    const expected = { own: 'string', shared: 'number', old: 'number', hers: 'file', oldest: 'string' };
    expect(await inputsOf('child', registry)).toEqual(expected);
  });

  it('that only a base type declares with inputs has them, also when the type redeclares it without', async () => {
    const base = { methods: { m: { input: { a: text } } } };
    expect(await inputsOf('child', { child: { baseTypes: ['base'] }, base })).toEqual({ a: 'string' });
    const child = { baseTypes: ['base'], methods: { m: { input: null } } };
    expect(await inputsOf('child', { child, base })).toEqual({ a: 'string' });
  });

  it.each([{}, { input: null }, { input: {} }])('declared as %j has no inputs', async (m) => {
    const lineage = await lineageOf('t', { t: { methods: { m } } });
    expect(inputsIn(lineage, 'm')).toEqual(new Map());
  });
  it('that no type declares is not declared', async () =>
    expect(await inputsOf('t', { t: { methods: { n: {} } } })).toBeUndefined());
});

it('types that the registry does not know are named: the type itself, base types, and malformed references', async () => {
  expect(await lineageOf('gone@2', {})).toMatchObject({ types: [], unknown: ['gone@2'] });
  expect(await lineageOf('gone', {})).toMatchObject({ types: [], unknown: ['gone'] });
  const { types, unknown, asked } = await lineageOf('t', { t: { baseTypes: ['gone@1.0.0', '../x'] } });
  expect([types.length, unknown, asked]).toEqual([1, ['../x', 'gone@1.0.0'], ['t', 'gone@1.0.0']]);
});

it('a type has 63 base types at most', async () => {
  const chainOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, { baseTypes: [`t${index + 1}`] }]));
  expect((await lineageOf('t0', { ...chainOf(63), t63: {} })).types).toHaveLength(64);
  const { code, details } = await rejection(lineageOf('t0', chainOf(64)));
  expect([code, details]).toEqual(['http_response_error', 'the type has more than 63 base types']);
});

it.each([[[]], ['m'], [{ m: { input: [] } }], [{ m: { input: 7 } }]])(
  'methods and inputs are objects: %j is refused',
  async (methods) => expect(lineageOf('t', { t: { methods } })).rejects.toThrow(/Invalid input/),
);
