import { describe, expect, it } from 'vitest';
import { attributesOf, isNamed, objectOf } from '../../src/backends/informationModel.ts';
import { parseJson } from '../../src/protocol/json.ts';

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
    ...['{}', '{"to":1}', '{"to":{"model":"m"}}', '{"to":{"model":"other"}}', `{"to":{"objectId":"${id}"}}`],
    ...[`{"to":{"objectId":"${id}","model":1}}`, '{"to":{"objectId":"x","model":"m"}}'],
  ])('without an object is a fault of the backend: %s', (text) =>
    expect(() => objectOf('m')(parseJson(text))).toThrow(new TypeError('expected a reference to an object model')),
  );

  it('has an object of attributes, or none', () => {
    expect(attributesOf(parseJson('{}')).text).toBe('{}');
    const fault = new TypeError('expected attributes to be an object');
    expect(() => attributesOf(parseJson('{"attributes":[]}'))).toThrow(fault);
  });
});
