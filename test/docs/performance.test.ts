import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { charts, performancePage, withTables } from '../../scripts/performancePage.ts';
import { readPage } from './markdown.ts';

it('docs/performance.md has the figures that the bench has written: run `npm run docs`', () => {
  const page = readFileSync(performancePage, 'utf8');
  expect(page).toBe(withTables(page));
});

it.each(Object.entries(charts))(
  'docs/performance.md shows %s as the bench draws it: run `npm run docs`',
  (file, svg) => {
    expect(readFileSync(`docs/measurements/${file}`, 'utf8')).toBe(svg);
    expect(readPage('performance.md')).toContain(`](measurements/${file})`);
  },
);
