import { inexactIn, isShallow } from '@device-messaging/telemetry/exactJson.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWhole } from '../../src/methods/contract.ts';
import { placeIn } from '../../src/protocol/rejection.ts';

// What must not be lost when JSON is read and written anew: in requests (M4), in the answers of devices, and in the replies of modules (M7).

function inexact(text: string): string | undefined {
  const one = inexactIn(text);
  return one && `${placeIn(one.path)} ${one.problem}`;
}

describe('the inexact parts of a JSON text', () => {
  it.each([
    ['{"a":1,"b":{"a":1},"a":2}', 'a occurs twice'],
    ['{"type":1,"ty\\u0070e":2}', 'type occurs twice'],
    ['{"a":[{},{"b":1,"b":1}]}', 'a[1].b occurs twice'],
    ['{"x":[{"b":1},{"b":1,"c":{},"b":2}]}', 'x[1].b occurs twice'],
    ['{"a":{"b":1},"a"\n:2}', 'a occurs twice'],
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
    ...['{}', '[]', '{"a":{"a":{"a":0}}}', '{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', '{"a":"a","b":"a"}'],
    ...['{"a":["b","b"],"b":0}', '{"a":{"x":1},"x":3}', '{"a":[{"x":1},{"x":2}],"x":3}', '{"a" : 1 , "A" : 2}'],
    ...[
      '{"":0,"__proto__":{"constructor":1}}',
      '{"a":"\\"b\\":1,\\"b\\":2"}',
      '{"a":"\\ud83d\\ude00 \\" \\\\ \\u0022"}',
    ],
    ' { "a" : [ ] , "b" : [ { } , "\\ud83d\\ude00\\n" , true , false , null ] } ',
  ])('are empty for %s', (text) => expect(inexact(text)).toBeUndefined());

  it('are named by a path of limited length', () => {
    const key = JSON.stringify('long '.repeat(50));
    const deep = `${`{${key}:`.repeat(60)}1e400${'}'.repeat(60)}`;
    expect(inexact(deep)).toMatch(/^\["long .{290,300}… is a number beyond the range of a double$/);
  });

  it('are empty for any value that JavaScript has written', () =>
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(2), (value, indent) => {
        expect(inexact(JSON.stringify(value, undefined, indent))).toBeUndefined();
      }),
      { numRuns: 2_000 },
    ));

  it('are those that reading and writing changes, in any place', () => {
    const literal = fc.constantFrom(...'1 1e400 -0 "\\ud83d" "\\ud83d\\ude00" 1.0 9007199254740993 null'.split(' '));
    const keys = fc.array(fc.constantFrom('"a"', '"\\u0061"', '"b"', '"\\udead"'), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(keys, literal, fc.jsonValue(), (written, leaf, value) => {
        const text = `[${JSON.stringify(value)},{${written.map((key) => `${key}:${leaf}`).join()}}]`;
        const names = written.map((key) => JSON.parse(key));
        const isLost = new Set(names).size < names.length || names.some((name) => !name.isWellFormed());
        const isInexact = ['1e400', '"\\ud83d"', '9007199254740993'].includes(leaf);
        expect([text, inexactIn(text) !== undefined]).toEqual([text, isLost || isInexact]);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['zeros between digits', `[1${'0'.repeat(65_000)}1${'0'.repeat(65_000)}e-130000]`],
    ['zeros in front', `[0.${'0'.repeat(130_000)}1e130000]`],
    ['white space', `{"a"${' '.repeat(130_000)}:1}`],
    ['white space behind texts', `["a"${' '.repeat(130_000)},"a"${' '.repeat(130_000)}]`],
    ['escapes', `{"a":"${'\\"'.repeat(130_000)}"}`],
    ['keys', `{${Array.from({ length: 16_000 }, (_, index) => `"${index}":0`).join()}}`],
  ])('are found in linear time among %s', (_, text) => {
    const began = process.cpuUsage();
    inexactIn(text);
    expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
  });
});

describe('a number', () => {
  const problemOf = (literal: string) => inexactIn(literal)?.problem;

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
    ...['0', '-0', '0.0', '0e400', '-0.000e-999', '1.0', '1e3', '-2E+2', '1e300', '1e23', '5e-324', '0.1', '123e-2'],
    ...['0.000000000000000000', '0.99999999999999999999', '9007199254740992', '12345678901234567890.5', '100e-2'],
    ...['1000000000000000000000000.0', '1.7976931348623157e308', '0.9007199254740994e16', '0.0900719925474099400e17'],
    ...['0.001e3', '0.012e3', '3.141592653589793238462643383279', '-9007199254740991', '9007199254740992.5'],
  ])('%s can be a double', (literal) => expect(problemOf(literal)).toBeUndefined());

  it.each([
    ['9007199254740993', 'whole number that would change'],
    ['-90071992547409930e-1', 'whole number that would change'],
    ['-9007199254740993.0', 'whole number that would change'],
    ['12345678901234567890', 'whole number that would change'],
    ['1152921504606846976', 'whole number that would change'], // written as …847000
    ['1.7976931348623159e308', 'beyond the range'],
    ['9'.repeat(400), 'beyond the range'],
    ['-1e400', 'beyond the range'],
    ['1e99999999999999999999', 'beyond the range'],
    ['2e-324', 'become 0'],
    ['-0.0000001e-400', 'become 0'],
    ['-1e-99999999999999999999', 'become 0'],
  ])('%s cannot be a double: %s', (literal, problem) => expect(problemOf(literal)).toContain(problem));

  it('that is an integer is exact when its double has the same digits', () =>
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.nat(9), (n, zeros) => {
        const literal = `${n}${'0'.repeat(zeros)}`;
        const isSame = BigInt(literal) === BigInt(Number(literal).toLocaleString('fullwide', { useGrouping: false }));
        expect([literal, problemOf(literal) === undefined]).toEqual([literal, isSame]);
      }),
      { numRuns: 2_000 },
    ));
});

it('a value is shallow within so many levels', () => {
  const nested = { a: [{ b: [] }, 1, null, 'text'] };
  expect([isShallow(nested, 4), isShallow(nested, 3), isShallow('text', 0), isShallow([], 0)]).toEqual([
    ...[true, false, true, false],
  ]);
});
