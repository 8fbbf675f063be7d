import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { chartsOf } from '../bench/charts.ts';
import { type Measured, tableOf } from '../bench/table.ts';
import { readPage } from './markdown.ts';

const measured = (name: string): readonly Measured[] =>
  JSON.parse(readFileSync(`docs/measurements/${name}.json`, 'utf8')).measured;
const [before, now] = [measured('before'), measured('now')];

it('docs/performance.md has the figures of the bench', () => {
  expect(readPage('performance.md')).toContain(tableOf(now, before));
});

it.each(
  Object.entries(
    chartsOf([
      { name: 'before', measured: before },
      { name: 'now', measured: now },
    ]),
  ),
)('docs/performance.md shows %s as the bench draws it', (file, svg) => {
  expect(readFileSync(`docs/measurements/${file}`, 'utf8')).toBe(svg);
  expect(readPage('performance.md')).toContain(`](measurements/${file})`);
});
