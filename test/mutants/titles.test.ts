import { expect, it } from 'vitest';
import { faults } from './faults.ts';
import { withoutTest } from './titles.ts';

const [fault] = faults;
if (fault === undefined) throw new Error('there are faults');
const meant = { ...fault, tests: ['a.test.ts', 'b.test.ts'], caughtBy: 'is noticed' };
const titles = (a: string[], b: string[]) =>
  new Map([
    ['a.test.ts', a],
    ['b.test.ts', b],
  ]);

it.each([
  ['whose words are in a title of one of its files', titles(['x'], ['a fault is noticed at once']), []],
  ['whose words are in no title', titles(['a fault is noted'], []), [meant]],
  ['of which not every file has run', new Map([['a.test.ts', []]]), []],
])('of faults with a title that no test has: one %s', (_, ran, found) => {
  expect(withoutTest([meant], ran)).toEqual(found);
});
