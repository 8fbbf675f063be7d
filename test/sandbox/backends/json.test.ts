import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elements, isSame, members, printMembers, scalar } from '../../../sandbox/backends/requests/json.ts';

describe('raw JSON', () => {
  it('splits an object into the raw texts of its members, in order', () => {
    const text = ' { "b" : 1.0 ,"a":{"x":[1,"]}",{}]}, "\\u0063\\"":"\\\\", "d":[] } ';
    expect([...members(text)]).toEqual([
      ['b', '1.0'],
      ['a', '{"x":[1,"]}",{}]}'],
      ['c"', '"\\\\"'],
      ['d', '[]'],
    ]);
  });
  it('splits an array into the raw texts of its elements', () => {
    expect(elements(' [ 1e400 , [2,3],"a,b" ,{"x":","}] ')).toEqual(['1e400', '[2,3]', '"a,b"', '{"x":","}']);
    expect(elements('[]')).toEqual([]);
    expect([...members('{ }')]).toEqual([]);
  });
  it('rebuilds any object as JSON reads it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        const found = members(text);
        expect([...found.keys()]).toEqual(Object.keys(JSON.parse(text)));
        expect(JSON.parse(printMembers(found))).toEqual(JSON.parse(text));
      }),
    );
  });
  it('refuses a duplicate name in any escaping', () => expect(() => members('{"a":1,"\\u0061":2}')).toThrow('twice'));

  it.each([
    ['1', '1.0'],
    ['10', '1e1'],
    ['-0', '0'],
    ['0.00', '0e5'],
    ['100e-2', '1'],
    ['1e400', '10E+399'],
    ['"a"', '{"value":"a"}'],
    ['"A"', '"\\u0041"'],
    ['{ "value" : 7 }', '7.0'],
  ])('treats %s and %s as equal', (a, b) => expect(isSame(a, b)).toBe(true));
  it.each([
    ['9007199254740993', '9007199254740992'],
    ['1e400', '1e401'],
    ['1', '-1'],
    ['"1"', '1'],
    ['true', '"true"'],
    ['"a"', '{"value":"a","unit":"bar"}'],
  ])('distinguishes %s from %s', (a, b) => expect(isSame(a, b)).toBe(false));
  it.each([
    ['1.0', 'integer'],
    ['1e2', 'integer'],
    ['15e-1', 'number'],
    ['-0.5', 'number'],
    ['"1"', 'string'],
    ['false', 'boolean'],
    ['null', undefined],
    ['[1]', undefined],
    ['{"a":1}', undefined],
  ])('knows the kind of %s: %s', (raw, kind) => expect(scalar(raw)?.kind).toBe(kind));
});
