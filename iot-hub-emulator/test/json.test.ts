import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ExactNumber, isObject, numeric, parseJson, writeJson } from '../src/values/json.ts';

describe('JSON', () => {
  test.each([
    '1.0',
    '[1,-0,1e3,1E+3,0.10,9007199254740993,123456789012345678901234567890]',
    '{"a\\\\":1.0,"\\"1.0\\"":"1.0 \\\\\\" 2.0","":[{"b":-1.50}]}',
    '{"__proto__":1.0,"constructor":{"prototype":2.0}}',
    'null',
  ])('is written as it was read: %s', (text) => expect(writeJson(parseJson(text))).toBe(text));
  test('is otherwise what JavaScript makes of it, and writes', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const read = parseJson(text);
        expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(text));
        expect(JSON.parse(writeJson(read))).toEqual(JSON.parse(text));
      }),
    );
  });
  test('that is none is refused', () =>
    expect(() => parseJson('{"a": 01.0}')).toThrow(
      expect.objectContaining({ condition: 'com.microsoft:argument-error' }),
    ));
  test('that is nested too deep to be read with its numbers is refused', () =>
    expect(() => parseJson(`${'['.repeat(200_000)}1.0${']'.repeat(200_000)}`)).toThrow('not JSON'));
  test('has numbers that can be calculated with', () => {
    const value = parseJson('2.0');
    expect([value, numeric(value), isObject(value)]).toEqual([new ExactNumber('2.0'), 2, false]);
  });
});
