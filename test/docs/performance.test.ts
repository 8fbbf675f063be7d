import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { before, now, performancePage, withTables } from '../../scripts/performancePage.ts';
import { chartsOf } from '../bench/charts.ts';
import { readPage } from './markdown.ts';

it('has the figures that the bench has written: run `npm run docs`', () => {
  const page = readFileSync(performancePage, 'utf8');
  expect(page).toBe(withTables(page));
});

it.each(
  Object.entries(
    chartsOf([
      { name: 'before', measured: before },
      { name: 'now', measured: now },
    ]),
  ),
)('shows %s as the bench draws it', (file, svg) => {
  expect(readFileSync(`docs/measurements/${file}`, 'utf8')).toBe(svg);
  expect(readPage('performance.md')).toContain(`](measurements/${file})`);
});
