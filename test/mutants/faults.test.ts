import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { standsOnce } from '../../scripts/mutants/attempt.ts';
import { faults } from './faults.ts';

// Putting the faults in takes minutes; that they can be put in is known at once.

it.each(faults)('the fault can still be applied: $fault', (fault) => {
  expect(standsOnce(readFileSync(fault.file, 'utf8'), fault)).toBe(true);
  expect(fault.tests.filter((path) => !existsSync(path))).toEqual([]);
});

it('the names of faults are unique', () => {
  const names = faults.map(({ fault, file }) => `${file}: ${fault}`);
  expect(new Set(names).size).toBe(names.length);
});
