import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/protocol/json.ts';
import { inexactIn } from '../../src/protocol/jsonExactness.ts';
import { isWhole, numberProblem } from '../../src/protocol/jsonNumbers.ts';

const inexact = (text: string) => inexactIn(parseJson(text));

describe('the inexact parts of a JSON text', () => {
  it.each([
    ['{"a":1,"b":{"a":1},"a":2}', 'a occurs twice'],
    ['{"type":1,"ty\\u0070e":2}', 'type occurs twice'],
    ['{"a":[{},{"b":1,"b":1}]}', 'a[1].b occurs twice'],
    ['{"__proto__":1,"__proto__":1}', '__proto__ occurs twice'],
    ['{"two words":{"\\u0000":1e400}}', '["two words"]["\ufffd"] is a number beyond the range of a double'],
    ['[0,-1e309]', '[1] is a number beyond the range of a double'],
    ['1e-400', 'it is a number so small that it would become 0'],
    ['{"a":"\\ud800"}', 'a has half a surrogate pair, which is not Unicode text'],
    ['{"a":["\\udc00\\ud800"]}', 'a[0] has half a surrogate pair, which is not Unicode text'],
    ['[9,{"a":1e400}]', '[1].a is a number beyond the range of a double'],
    ['{"\\udfff":1}', '["\ufffd"] has a name with half a surrogate pair, which is not Unicode text'],
  ])('%s: %s', (text, sentence) => expect(inexact(text)).toBe(sentence));

  it.each([
    '{}',
    '[]',
    ' { "a" : [ ] , "b" : [ { } , "\\ud83d\\ude00\\n" , true , false , null ] } ',
    '{"a":{"a":{"a":0}}}',
  ])('are empty for %s', (text) => expect(inexact(text)).toBeUndefined());

  it('are named by a path that begins with the name of the text, if it has one', () => {
    const [inObject, outermost] = ['{"a":1e400}', '1e400'].map((text) => inexactIn(parseJson(text), 'input'));
    expect(inObject).toBe('input.a is a number beyond the range of a double');
    expect(outermost).toBe('input is a number beyond the range of a double');
  });

  it('are named by a path of limited length', () => {
    const key = JSON.stringify('long '.repeat(50));
    const deep = `${`{${key}:`.repeat(60)}1e400${'}'.repeat(60)}`;
    expect(inexact(deep)).toMatch(/^\["long .{290,300}… is a number beyond the range of a double$/);
  });

  it('are empty for any value that JavaScript has written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(inexact(JSON.stringify(value))).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a number', () => {
  it.each<[string, boolean]>([
    ['1.0', true],
    ['1e3', true],
    ['10.00e-1', true],
    ['-0.0', true],
    ['0e-99', true],
    ['100000000000000000000000000000000000e-35', true],
    ['0.99999999999999999999', false],
    ['10e-2', false],
    ['9007199254740991.5', false],
  ])('%s is an integer: %s', (literal, expected) => expect(isWhole(literal)).toBe(expected));

  it.each([
    ...['0', '-0', '0e400', '0.000000000000000000', '1e300', '1e23', '5e-324', '0.1', '0.99999999999999999999'],
    ...['9007199254740992', '12345678901234567890.5', '1000000000000000000000000.0', '1.7976931348623157e308'],
    ...['0.9007199254740994e16', '0.0900719925474099400e17'],
  ])('%s can be a double', (literal) => expect(numberProblem(literal)).toBeUndefined());

  it.each([
    ['9007199254740993', 'whole number that would change'],
    ['-90071992547409930e-1', 'whole number that would change'],
    ['12345678901234567890', 'whole number that would change'],
    ['1.7976931348623159e308', 'beyond the range'],
    ['-1e400', 'beyond the range'],
    ['1e99999999999999999999', 'beyond the range'],
    ['2e-324', 'become 0'],
    ['-1e-99999999999999999999', 'become 0'],
  ])('%s cannot be a double: %s', (literal, problem) => expect(numberProblem(literal)).toContain(problem));

  it('that is an integer is exact when its double has the same digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.nat(9), (n, zeros) => {
        const literal = `${n}${'0'.repeat(zeros)}`;
        const isSame = BigInt(literal) === BigInt(Number(literal).toLocaleString('fullwide', { useGrouping: false }));
        expect([literal, numberProblem(literal) === undefined]).toEqual([literal, isSame]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('of a hundred thousand zeros is read in linear time', () => {
    const zeros = '0'.repeat(100_000);
    expect(numberProblem(`1${zeros}1${zeros}1`)).toContain('beyond the range');
    expect(numberProblem(`0.${zeros}1${zeros}1`)).toContain('become 0');
  });
});
