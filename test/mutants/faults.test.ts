import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { faults } from './faults.ts';

// Putting the faults in takes minutes; that they can be put in is known at once.

it.each(faults)('can still be put in: $fault', ({ file, find, tests }) => {
  expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2);
  const files = tests.filter((one) => one.startsWith('test/'));
  expect(files.filter((one) => !existsSync(one))).toEqual([]);
});

it('are told apart by their names', () => {
  const names = faults.map(({ fault, file }) => `${file}: ${fault}`);
  expect(new Set(names).size).toBe(names.length);
});
