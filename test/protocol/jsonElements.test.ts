import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberOf, parseJson } from '../../src/protocol/json.ts';
import { elementsOf } from '../../src/protocol/jsonElements.ts';
import { keysOf } from '../../src/protocol/jsonKeys.ts';

describe('the elements of an array', () => {
  it('each keep their own text', () => {
    const text = '[ {"n": 1.0, "s": "],[\\"{"}, [1,[2]] ,"a,b" ,12345678901234567890,null]';
    expect(elementsOf(parseJson(text)).map((element) => element.text)).toEqual([
      '{"n": 1.0, "s": "],[\\"{"}',
      '[1,[2]]',
      '"a,b"',
      '12345678901234567890',
      'null',
    ]);
  });

  it.each(['[]', ' [ ] '])('of %j are none', (text) => {
    expect(elementsOf(parseJson(text))).toEqual([]);
  });

  it('say together what the array says', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        const elements = elementsOf(parseJson(JSON.stringify(values, undefined, 1)));
        expect(elements.map(({ value }) => value)).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  it('have no blanks around them, of whatever kind', () => {
    const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r') });
    const spaced = fc.array(fc.tuple(blanks, fc.json(), blanks), { minLength: 1 });
    fc.assert(
      fc.property(blanks, spaced, (before, values) => {
        const text = `${before}[${values.map((parts) => parts.join('')).join(',')}]`;
        const texts = elementsOf(parseJson(text)).map((element) => element.text);
        expect(texts).toEqual(values.map(([, value]) => value.trim()));
      }),
    );
  });

  it('are those of an array within a larger text', () => {
    const list = memberOf(parseJson('{"before":[0],"list": [1, 2], "after":[3]}'), 'list');
    expect(list && elementsOf(list).map(({ text }) => text)).toEqual(['1', '2']);
  });

  it('may end with a backslash', () => {
    const texts = [String.raw`"\\"`, String.raw`"\\\\"`];
    expect(elementsOf(parseJson(`[${texts}]`)).map(({ text }) => text)).toEqual(texts);
  });

  it('know the members that are asked for', () => {
    const [element] = elementsOf(parseJson('[{"wanted":1,"other":2}]'), keysOf(['wanted']));
    expect(element && [memberOf(element, 'wanted')?.text, element.members.size]).toEqual(['1', 1]);
  });

  it.each(['{}', '{"a":[1]}', '1', '"[1]"'])('are not asked of %s', (text) => {
    expect(() => elementsOf(parseJson(text))).toThrow('expected an array');
  });
});
