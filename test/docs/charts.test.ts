import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { pictureNames } from '../../scripts/charts/pictures.ts';
import { troubles } from '../../scripts/charts/troubles.ts';

const page = readFileSync('docs/troubleshooting.md', 'utf8');

it('docs/troubleshooting.md shows every chart, and no other', () => {
  const shown = [...page.matchAll(/!\[[^\]]+\]\(charts\/([\w.]+)\)/g)].map(([, file]) => file);
  expect(shown).toEqual(pictureNames);
  expect(readdirSync('docs/charts').toSorted()).toEqual(pictureNames.toSorted());
});

it.each(pictureNames)('docs/charts/%s shows the troubles of the run, and values', (file) => {
  const svg = readFileSync(`docs/charts/${file}`, 'utf8');
  expect(svg.match(/class="shade"/g)).toHaveLength(troubles.length);
  expect(svg).toMatch(/class="line c0" d="M[\d.]+ [\d.]+L/);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});

it('docs/troubleshooting.md has the time of each trouble', () => {
  for (const { from, to } of troubles) expect(page).toContain(`${from} to ${to} s`);
});
