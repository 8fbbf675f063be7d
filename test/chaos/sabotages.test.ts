import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withFault } from '../mutants/faults.ts';
import { misfortunes } from './misfortunes.ts';
import { sabotages } from './sabotages.ts';

it.each(sabotages)('a sabotage applies, and existing misfortunes expose it: $fault', (sabotage) => {
  const text = readFileSync(sabotage.file, 'utf8');
  expect(withFault(text, sabotage)).not.toBe(text);
  expect(sabotage.reportedAs).not.toEqual([]);
  expect(misfortunes.map(({ name }) => name)).toEqual(expect.arrayContaining([...sabotage.showsIn]));
});
