import { describe, expect, it } from 'vitest';
import { createCache } from '../../src/backends/cache.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import type { Call, Send } from '../../src/backends/sending.ts';
import { declarationIn, lineages, type TypeMethods } from '../../src/backends/typeRegistry.ts';
import { parseTypeRef, type TypeRef } from '../../src/protocol/fields.ts';
import { parseJson } from '../../src/protocol/json.ts';
import { rejection } from './harness.ts';

// Which inputs a method has (M4).

/** Definitions of types, by their reference. */
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
  const declaration = declarationIn(await lineageOf(type, registry), method);
  return declaration && Object.fromEntries(declaration.inputs ?? []);
};

describe('a method', () => {
  it('that a type redeclares keeps the inputs of its base types; the nearest declaration of an input counts', async () => {
    const registry = {
      child: { baseTypes: ['parent@1.0.0', 'aunt'], methods: { m: { input: { own: text, shared: number } } } },
      'parent@1.0.0': { baseTypes: ['root'], methods: { m: { input: { shared: text, old: number } } } },
      aunt: { methods: { m: { input: { old: text, hers: file } } } },
      root: { baseTypes: ['child'], methods: { m: { input: { hers: text, oldest: text, own: file } } } },
    };
    expect(await inputsOf('child', registry)).toEqual({
      own: 'string',
      shared: 'number',
      old: 'number',
      hers: 'file',
      oldest: 'string',
    });
  });

  it('that only a base type declares with inputs has them, also when the type redeclares it without', async () => {
    const base = { methods: { m: { input: { a: text } } } };
    expect(await inputsOf('child', { child: { baseTypes: ['base'] }, base })).toEqual({ a: 'string' });
    const child = { baseTypes: ['base'], methods: { m: { input: null } } };
    expect(await inputsOf('child', { child, base })).toEqual({ a: 'string' });
  });

  it.each([{}, { input: null }, { input: {} }])('declared as %j has no inputs', async (m) => {
    const lineage = await lineageOf('t', { t: { methods: { m } } });
    expect(declarationIn(lineage, 'm')).toEqual({ inputs: undefined });
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
