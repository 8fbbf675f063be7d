import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isText,
  keysOf,
  leafOf,
  MalformedJson,
  maxJsonDepth,
  memberOf,
  parseJson,
  pick,
  pickSmall,
  readJson,
  tooLargeReason,
  valueIn,
  withMember,
  withoutMember,
} from '../../src/protocol/json.ts';
import { withCountedEffort } from '../support/effort.ts';

const effort = withCountedEffort();

const bytes = (text: string) => Buffer.from(text);

describe('readJson', () => {
  it.each([
    ['no bytes', Buffer.alloc(0), 'is empty, expected JSON'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'is not valid UTF-8'],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'is not valid UTF-8'],
    ['a byte order mark', bytes('\ufeff{}'), 'begins with a byte order mark'],
  ])('refuses %s', (_what, body, why) => {
    expect(() => readJson(body)).toThrow(MalformedJson);
    expect(() => readJson(body)).toThrow(why);
  });

  it.each(['\uffff{}', '\ufec0{}', '\u1eff{}', '\uefbf{}'])('treats nothing else as a byte order mark: %j', (text) => {
    expect(() => parseJson(text)).toThrow('is not well-formed JSON');
    expect(parseJson('"¿"').value).toBe('¿');
  });
  it('does not quote the refused text, which may hold a secret', () =>
    expect(() => readJson(bytes('{"publicKey": s3cret}'))).toThrow(expect.not.stringContaining('s3cret')));

  it(`reads ${maxJsonDepth} levels of nesting and refuses one more`, () => {
    const nested = (levels: number) => bytes('['.repeat(levels) + ']'.repeat(levels));
    expect(readJson(nested(maxJsonDepth)).value).toBeInstanceOf(Array);
    expect(() => readJson(nested(maxJsonDepth + 1))).toThrow('nested more than 128 levels');
  });

  it('tolerates nesting far beyond the limit', () =>
    expect(() => readJson(bytes('['.repeat(100_000) + ']'.repeat(100_000)))).toThrow('nested more than 128 levels'));
  it.each([' ', '\n', '\r', '\t', ' \r\n\t '])('finds an object after %j', (blank) =>
    expect([parseJson(`${blank}{"a":1}`).isObject, parseJson(`${blank}[{"a":1}]`).isObject]).toEqual([true, false]),
  );

  it('builds a value only when it is asked for', () => {
    const json = parseJson('{"a":{"b":1}}');
    expect([effort.built, json.value]).toEqual([0, { a: { b: 1 } }]);
    expect(effort.built).toBe(json.text.length);
  });

  it('keeps the text unchanged', () => {
    const text = '{ "b": 12345678901234567890, "a": 1.0, "2": 1e400, "1": -0 }';
    expect(readJson(bytes(text)).text).toBe(text);
  });
});

it.each([
  ['{"type":"a","type":"b"}', ['type']],
  ['{"type":"a","ty\\u0070e":"b","type":"c"}', ['type']],
  ['{"type":1,"type":2,"__proto__":3,"__proto__":4}', ['type', '__proto__']],
  ['{"properties":{"type":1,"type":2}}', []],
  ['{"other":1,"other":2}', []],
  ['{"type":"{\\"type\\":1,\\"type\\":2}"}', []],
  ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ['["type","type"]', []],
])('duplicates of the requested keys in %s are %j', (text, expected) =>
  expect([...parseJson(text, keysOf(['type', '__proto__'])).twice]).toEqual(expected),
);

it('the last of two members counts, as for JSON.parse', () =>
  expect(memberOf(parseJson('{"a":1,"b":2,"a":3}'), 'a')?.value).toBe(3));

describe('values of members', () => {
  it('are read singly or together, without missing ones', () => {
    const json = parseJson('{"a":{"b":[1]},"c":"d","e":null}');
    expect(['a', 'c', 'e', 'x'].map((key) => valueIn(json, key))).toEqual([{ b: [1] }, 'd', null, undefined]);
    expect(Object.entries(pick(json, ['c', 'e', 'x']))).toEqual([
      ['c', 'd'],
      ['e', null],
    ]);
    expect(Object.entries(pickSmall(json, ['c', 'x']))).toEqual([['c', 'd']]);
    expect(['a', 'c', 'x'].map((key) => isText(json, key))).toEqual([false, true, false]);
  });

  it('are read without being passed once more', () => {
    const json = parseJson('{"a":{"b":[1]}}');
    const leaf = leafOf(json, 'a');
    expect([leaf?.text, leaf?.value, leaf?.size, leaf?.members.size]).toEqual(['{"b":[1]}', { b: [1] }, 0, 0]);
    expect(leafOf(json, 'x')).toBeUndefined();
    expect(effort.characters).toBe(json.text.length);
  });

  it('from a device are not read over 1,000 values or 65,536 bytes', () => {
    const list = (length: number) => JSON.stringify(new Array(length).fill(0));
    const string = (length: number) => JSON.stringify('x'.repeat(length - 2));
    const members = [list(1_000), list(1_001), string(65_536), string(65_537)];
    const json = parseJson(`{${members.map((text, index) => `"m${index}":${text}`).join()}}`);
    const expected = [undefined, 'has more than 1000 values', undefined, 'has more than 65536 bytes'];
    expect([...json.members.values()].map(tooLargeReason)).toEqual(expected);
    expect(Object.keys(pickSmall(json, ['m0', 'm1', 'm2', 'm3']))).toEqual(['m0', 'm2']);
  });
});

describe('editing one member', () => {
  it('changes only its characters', () => {
    const json = parseJson('{ "a" : 1.0 ,\n "version" : 3 , "z":{"version":9} }');
    expect(withMember(json, 'version', '12345678901234567890')).toBe(
      '{ "a" : 1.0 ,\n "version" : 12345678901234567890 , "z":{"version":9} }',
    );
  });

  it('puts a new member first', () => {
    expect(withMember(parseJson('{"a":1}'), 'b', '2')).toBe('{"b":2,"a":1}');
    expect(withMember(parseJson('{ }'), 'b', '2')).toBe('{"b":2 }');
    expect(withMember(parseJson(' {"a":1}'), 'b', '2')).toBe(' {"b":2,"a":1}');
  });

  it.each([
    ['{"a":1,"b":2,"c":3}', 'a', '{"b":2,"c":3}'],
    ['{"a":1, "b":2, "c":3}', 'b', '{"a":1, "c":3}'],
    ['{"a":1, "b":2 }', 'b', '{"a":1 }'],
    ['{"a":1, "b":2,  "c":3}', 'c', '{"a":1, "b":2}'],
    ['{"a":1 ,\t\r\n "b":2 }', 'b', '{"a":1  }'],
    ['{"b":[1,2]}', 'b', '{}'],
    ['{"a":1}', 'b', '{"a":1}'],
  ])('removes from %s the member %s', (text, key, expected) =>
    expect(withoutMember(parseJson(text), key).toString()).toBe(expected),
  );

  it('agrees with JSON.parse on any document', () => {
    const key = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.jsonValue({ maxDepth: 5 })),
        key,
        fc.jsonValue(),
        fc.nat(4),
        (object, name, value, indent) => {
          fc.pre(name !== '__proto__');
          const json = parseJson(JSON.stringify(object, null, indent));
          for (const one of json.members.keys()) expect(memberOf(json, one)?.value).toEqual(JSON.parse(json.text)[one]);
          expect(json.members.size).toBe(Object.keys(JSON.parse(json.text)).length);
          expect(JSON.parse(withMember(json, name, JSON.stringify(value)))).toEqual({
            ...JSON.parse(json.text),
            [name]: JSON.parse(JSON.stringify(value)),
          });
          const { [name]: _gone, ...rest } = JSON.parse(json.text);
          expect(JSON.parse(withoutMember(json, name).toString())).toEqual(rest);
        },
      ),
      { numRuns: 500 },
    );
  });
});
