import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { carriageProblem } from '../../edge/src/modules/exactJson.ts';

// What the reply of a module may have, so that it arrives as it was sent (M7).

const problemOf = (json: string) => carriageProblem(json, 63);

describe('JSON that is read and written anew', () => {
  it.each([
    ['{}'],
    ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}'],
    ['{"a":"a","b":"a"}'],
    ['{"a":["b","b"],"b":0}'],
    ['{"a":{"x":1},"x":3}'],
    ['{"a":[{"x":1},{"x":2}],"x":3}'],
    ['{"a" : 1 , "A" : 2}'],
    ['{"":0,"__proto__":{"constructor":1}}'],
    ['{"a":"\\ud83d\\ude00 \\" \\\\ \\u0022"}'],
    ['{"a":"\\"b\\":1,\\"b\\":2"}'],
    ['[0,-0,0.0,0e400,-0.000e-999,1.0,1e3,-2E+2,100]'],
    ['[9007199254740991,-9007199254740991,9007199254740992,1e22,1e300,123e-2]'],
    ['[0.001e3,0.05e2,0.012e3,100e-2]'],
    ['[0.1,3.141592653589793238462643383279,5e-324,1.7976931348623157e308,9007199254740992.5]'],
  ])('arrives as it was: %s', (json) => expect(problemOf(json)).toBeUndefined());

  it.each([
    ['{"a":1,"a":1}', 'has a key twice in an object'],
    ['{"a":1,"\\u0061":1}', 'has a key twice in an object'],
    ['{"x":[{"b":1},{"b":1,"c":{},"b":2}]}', 'has a key twice in an object'],
    ['{"a":[1],"b":1,"b":2}', 'has a key twice in an object'],
    ['{"a":{"b":1},"a"\n:2}', 'has a key twice in an object'],
    ['{"__proto__":1,"__proto__":2}', 'has a key twice in an object'],
    ['[1e309]', 'has a number that is too large'],
    ['[-1e309]', 'has a number that is too large'],
    [`[${'9'.repeat(400)}]`, 'has a number that is too large'],
    ['[1e-324]', 'has a number that is too close to 0'],
    ['[-0.0000001e-400]', 'has a number that is too close to 0'],
    ['[9007199254740993]', 'has a whole number that would change'],
    ['[-9007199254740993.0]', 'has a whole number that would change'],
    ['[90071992547409930e-1]', 'has a whole number that would change'],
    ['[1152921504606846976]', 'has a whole number that would change'], // written as …847000
    ['[123456789012345678901234567890]', 'has a whole number that would change'],
    ['{"a":"\\ud83d"}', 'has half of a surrogate pair'],
    ['{"\\ude00":1}', 'has half of a surrogate pair'],
    ['{"a":"\\ude00\\ud83d"}', 'has half of a surrogate pair'],
    [`${'['.repeat(64)}${']'.repeat(64)}`, 'is nested more than 63 levels deep'],
  ])('does not arrive as it was: %s', (json, problem) => expect(problemOf(json)).toBe(problem));

  it('arrives as it was whatever the value, if it was written by the same rules', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(problemOf(JSON.stringify(value, undefined, 1))).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  it('arrives as it was exactly when the digits of a whole number do not change', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (number) => {
        const isSame = BigInt(Number(number).toLocaleString('fullwide', { useGrouping: false })) === number;
        expect(problemOf(`[${number}]`) === undefined).toBe(isSame);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['zeros between digits', `[1${'0'.repeat(65_000)}1${'0'.repeat(65_000)}e-130000]`],
    ['zeros in front', `[0.${'0'.repeat(130_000)}1e130000]`],
    ['white space', `{"a"${' '.repeat(130_000)}:1}`],
    ['escapes', `{"a":"${'\\"'.repeat(65_000)}"}`],
    ['keys', `{${Array.from({ length: 16_000 }, (_, index) => `"${index}":0`).join()}}`],
  ])('has a linear cost: %s', (_, json) => {
    const began = process.cpuUsage();
    problemOf(json);
    expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
  });
});
