import { beforeEach, describe, expect, test } from 'vitest';
import { createRegistry, type Registry } from '../src/identity/registry.ts';
import { createTwins, type Twins } from '../src/twins/twins.ts';
import { parseJson, writeJson } from '../src/values/json.ts';

const now = Date.UTC(2030, 0, 1);
let registry: Registry;
let twins: Twins;
beforeEach(() => {
  registry = createRegistry(() => now);
  twins = createTwins(registry, () => now);
  registry.create('d1');
});
const json = (text: string) => parseJson(text);
const reported = () => JSON.parse(JSON.stringify(twins.get('d1').reported));

describe('a patch', () => {
  test('merges objects, replaces other values and removes those that are null', () => {
    twins.report('d1', { a: { b: 1, c: [1, 2] }, d: 'x' });
    twins.report('d1', { a: { b: null, c: [3] }, d: { e: true } });
    const { $metadata: _, ...values } = reported();
    expect(values).toEqual({ a: { c: [3] }, d: { e: true }, $version: 3 });
  });
  test('sets the time and version of each changed value', () => {
    twins.report('d1', { a: { b: 1 } });
    twins.report('d1', { a: { c: 1 } });
    const at = new Date(now).toISOString();
    expect(reported().$metadata).toEqual({
      $lastUpdated: at,
      $lastUpdatedVersion: 3,
      a: {
        ...{ $lastUpdated: at, $lastUpdatedVersion: 3, b: { $lastUpdated: at, $lastUpdatedVersion: 2 } },
        c: { $lastUpdated: at, $lastUpdatedVersion: 3 },
      },
    });
  });
  test('can have names such as __proto__', () => {
    twins.report('d1', json('{"__proto__": {"polluted": true}}'));
    twins.report('d1', json('{"__proto__": {"more": 1}}'));
    expect(Object.hasOwn(reported(), '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(JSON.stringify(twins.get('d1').reported)).toContain('"__proto__":{"polluted":true,"more":1}');
  });
  test.each([
    ['a name with a dot', '{"a.b": 1}'],
    ['a name with a dollar sign below the top', '{"a": {"$b": 1}}'],
    ['a name with a space', '{"a b": 1}'],
    ['an empty name', '{"": 1}'],
    ['a name of 1,025 bytes', `{"${'ä'.repeat(512)}x": 1}`],
    ['the integer 2^52', '{"a": 4503599627370496}'],
    ['an integer below -2^52, in a list', '{"a": [-4503599627370497]}'],
    ['an integer that JavaScript rounds', '{"a": 9007199254740993}'],
    ['a number beyond all', '{"a": 1e400}'],
    ['a list in a list, eleven levels deep', `{"a": ${'['.repeat(10)}1${']'.repeat(10)}}`],
    ['a text of 4,097 bytes in a list', `{"a": ["${'x'.repeat(4097)}"]}`],
    ['eleven levels', `${'{"a":'.repeat(11)}1${'}'.repeat(11)}`],
    ['a text of 4,097 bytes', `{"a": "${'x'.repeat(4097)}"}`],
    ['a list', '[]'],
    ['null', 'null'],
  ])('with %s is refused as a whole', (_, text) => {
    const refusal = expect.objectContaining({ condition: 'com.microsoft:argument-error' });
    expect(() => twins.report('d1', json(text))).toThrow(refusal);
    expect(reported().$version).toBe(1);
  });
  test('that makes the section larger than 32 KB is refused as a whole', () => {
    const part = (name: string) => ({ [name]: 'x'.repeat(4000) });
    for (let i = 0; i < 8; i++) twins.report('d1', part(`p${i}`));
    expect(() => twins.report('d1', part('p8'))).toThrow('more than 32768 bytes');
    expect(reported().p8).toBeUndefined();
  });
  test.each([
    ['8 bytes for a number', [['a', '1']], 9],
    ['4 bytes for true', [['a', 'true']], 5],
    ['the bytes of texts, without control characters', [['a', '"ä\\u0000\\u009f€"']], 6],
    ['what is in lists and objects', [['a', '[1, {"b": "cd"}, null]']], 12],
  ])('counts %s', (_, pairs, bytes) => {
    const patch = (name: string, fill: number) => `{"${name}": "${'x'.repeat(fill)}"}`;
    const size = 32_768 - bytes;
    twins.report('d1', json(`{${pairs.map(([name, value]) => `"${name}": ${value}`).join(',')}}`));
    for (let left = size, i = 0; left > 0; i += 1, left -= 4002) {
      const name = `p${i}`;
      const fill = Math.min(4000, left - 2);
      twins.report('d1', json(patch(name, fill)));
    }
    expect(() => twins.report('d1', { y: '' })).toThrow('more than 32768 bytes');
  });
  test('keeps numbers as they are written, doubles and the greatest integers', () => {
    const written = '{"a":1.0,"b":[1e3,-0.0,{"c":4503599627370495}],"d":-4503599627370496,"e":0.1,"f":"1.0"}';
    twins.report('d1', json(written));
    const { $metadata: _, $version: __, ...values } = twins.get('d1').reported;
    expect(writeJson(values)).toBe(written);
  });
  test('may have names with a dollar sign on top, which are ignored', () => {
    twins.report('d1', { $version: 99, a: 1 });
    expect(reported()).toMatchObject({ a: 1, $version: 2 });
  });
});

test('a service may replace the whole sections that it names', () => {
  twins.change('d1', { tags: { a: 1 }, properties: { desired: { b: 1, c: 2 } } });
  const { tags, desired } = twins.change('d1', { properties: { desired: { c: 3 } } }, true);
  expect(tags).toEqual({ a: 1 });
  expect(desired).toMatchObject({ c: 3, $version: 3 });
  expect(desired['b']).toBeUndefined();
});
test('a change by a service that is refused changes neither section', () => {
  const before = twins.get('d1');
  expect(() => twins.change('d1', { tags: { a: 1 }, properties: { desired: { 'bad name': 1 } } })).toThrow();
  expect(() => twins.change('d1', { tags: { 'bad name': 1 }, properties: { desired: { a: 1 } } })).toThrow();
  expect(twins.get('d1')).toEqual(before);
});
test('changes by a service change the etag and the version, reports of the device the version only', () => {
  const before = twins.get('d1');
  twins.report('d1', { a: 1 });
  const told = twins.get('d1');
  expect([told.etag, told.version]).toEqual([before.etag, before.version + 1]);
  const seen = new Set([told.etag]);
  for (const patch of [{ tags: { a: 1 } }, { properties: { desired: { b: 1 } } }, { tags: null }]) {
    seen.add(twins.change('d1', patch).etag);
    expect(seen).toContain(twins.get('d1').etag);
  }
  expect([seen.size, twins.get('d1').version]).toEqual([4, before.version + 4]);
  registry.delete('d1');
  registry.create('d1');
  expect(seen).not.toContain(twins.get('d1').etag);
});
test('a watcher gets desired properties only', () => {
  const told: unknown[] = [];
  const stop = twins.watch('d1', (patch) => told.push(patch));
  twins.change('d1', { properties: { desired: { a: null, $version: 9, $metadata: {} } } });
  twins.change('d1', { tags: { a: 1 } });
  twins.report('d1', { a: 1 });
  stop();
  twins.change('d1', { properties: { desired: { b: 1 } } });
  expect(told).toEqual([{ a: null, $version: 2 }]);
});
test('a watcher that ends leaves the others of the same twin', () => {
  const told: string[] = [];
  const [first] = ['first', 'second'].map((name) => twins.watch('d1', () => told.push(name)));
  first?.();
  twins.change('d1', { properties: { desired: { a: 1 } } });
  expect(told).toEqual(['second']);
});
test('null removes all tags or desired properties, and a watcher gets each removal', () => {
  const told: unknown[] = [];
  twins.change('d1', { tags: { t: 1 }, properties: { desired: { a: 1, b: { c: 2 } } } });
  twins.watch('d1', (patch) => told.push(patch));
  const { tags, desired } = twins.change('d1', { tags: null, properties: { desired: null } });
  expect(JSON.parse(JSON.stringify({ tags, desired }))).toEqual({
    tags: {},
    desired: { $version: 3, $metadata: { $lastUpdated: new Date(now).toISOString(), $lastUpdatedVersion: 3 } },
  });
  expect(told).toEqual([{ a: null, b: null, $version: 3 }]);
});
test('a device cannot clear its reported properties with null', () =>
  expect(() => twins.report('d1', null)).toThrow('is an object'));
test('a twin is deleted with its device, which has a new twin when it is created again', () => {
  twins.report('d1', { a: 1 });
  registry.delete('d1');
  expect(() => twins.get('d1')).toThrow(expect.objectContaining({ condition: 'amqp:not-found' }));
  registry.create('d1');
  expect(reported()).toMatchObject({ $version: 1 });
  expect(reported().a).toBeUndefined();
});
