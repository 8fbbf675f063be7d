import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCreatedBy, isReplacedBy, saysTheSame } from '../../src/backends/informationModel.ts';
import { parseJson } from '../../src/protocol/json.ts';

const same = saysTheSame;

describe('two JSON texts', () => {
  it.each([
    ['{"a":1,"b":[true,null]}', ' { "b" : [ true , null ] , "a" : 1 } '],
    ['1', '1.0'],
    ['100', '1e2'],
    ['0.001', '1E-3'],
    ['1.50', '15e-1'],
    ['-0', '0.0e7'],
    ['1e400', '10e399'],
    ['12345678901234567890', '12345678901234567890.0'],
    ['"\\u0041\\/"', '"A/"'],
    ['{"\\u0041":1}', '{"A":1}'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"__proto__":1}', '{"__proto__":1.0}'],
  ])('%s and %s are equal', (a, b) => expect(same(a, b)).toBe(true));

  it.each([
    ['9007199254740992', '9007199254740993'],
    ['12345678901234567890', '12345678901234567891'],
    ['1e400', '1e401'],
    ['1', '-1'],
    ['10', '1'],
    ['0.1', '0.10000000000000000001'],
    ['1', '"1"'],
    ['"n1e0"', '1'],
    ['null', 'false'],
    ['[1,2]', '[2,1]'],
    ['{"a":1}', '{"a":1,"b":null}'],
    ['{"__proto__":1}', '{}'],
    ['"a"', '"A"'],
  ])('%s and %s are different', (a, b) => expect(same(a, b)).toBe(false));

  it('are equal in any layout', () =>
    fc.assert(fc.property(fc.json(), (text) => same(text, JSON.stringify(JSON.parse(text), undefined, 1)))));

  it('are distinguished by exponents of any length', () => {
    const exponent = '9'.repeat(1_000);
    expect([same(`1e${exponent}1`, `1e${exponent}2`), same(`1e${exponent}1`, ` 1e${exponent}1 `)]).toEqual([
      false,
      true,
    ]);
  });

  it('are compared in linear time, whatever a device sends', () => {
    const long = `["${'\\"x'.repeat(1_000_000)}",1${'0'.repeat(300_000)}1]`;
    expect(same(long, long.replace(']', ' ]'))).toBe(true);
  });
});

describe('a stored object model', () => {
  it.each([
    ['of the same type', '{"type":"pump"}', '{"ownerId":"p1","type":"pump@1.0.0"}', true],
    ['when the request has no type', '{}', '{"ownerId":"p1","type":"pump@1.0.0"}', false],
    ['when it has no type', '{"type":"pump"}', '{"ownerId":"p1"}', false],
    ['when neither has a type', '{}', '{"ownerId":"p1"}', false],
  ])('of which it is asked whether it proves a creation, %s', (_, sent, stored, proves) =>
    expect(isCreatedBy(parseJson(sent), 'p1', parseJson(stored))).toBe(proves),
  );

  it.each([
    [
      'with the same name',
      '{"version":1,"type":"pump","name":"a"}',
      '{"version":2,"type":"pump@1.0.0","name":"a"}',
      true,
    ],
    ['when the request has no version', '{"type":"pump"}', '{"version":2,"type":"pump@1.0.0"}', false],
    ['when the version is negative', '{"version":-5,"type":"pump"}', '{"version":-4,"type":"pump@1.0.0"}', false],
    ['when the version has a fraction', '{"version":1.5,"type":"pump"}', '{"version":2.5,"type":"pump@1.0.0"}', false],
    ['when it has no type', '{"version":1,"type":"pump"}', '{"version":2}', false],
    ['when the request has no type', '{"version":1}', '{"version":2,"type":"pump@1.0.0"}', false],
  ])('of which it is asked whether it proves a change, %s', (_, sent, stored, proves) =>
    expect(isReplacedBy(parseJson(sent), parseJson(stored))).toBe(proves),
  );
});
