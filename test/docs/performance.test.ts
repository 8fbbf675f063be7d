import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { performancePage, withTables } from '../../scripts/performancePage.ts';
import { sizingPage, storageRequests, withTables as withSizes } from '../../scripts/sizingPage.ts';
import type { Outcome } from '../scale/run.ts';

it('docs/performance.md has the figures that the bench has written: run `npm run docs`', () => {
  const page = readFileSync(performancePage, 'utf8');
  expect(page).toBe(withTables(page));
});

it('docs/sizing.md has the figures of bench and simulation: run `npm run docs`', () => {
  const page = readFileSync(sizingPage, 'utf8');
  expect(page).toBe(withSizes(page));
});

it('docs/sizing.md counts as many requests to the storage as the simulated instances made in a quiet time', () => {
  const { outcomes, partitions } = JSON.parse(readFileSync('docs/measurements/scale.json', 'utf8'));
  const quiet = (outcomes as Outcome[]).filter(({ storage }) => storage.quiet > 0);
  expect(quiet.length).toBeGreaterThan(5);
  for (const { name, before, storage } of quiet)
    expect(Math.abs(storage.quiet / storageRequests(before, partitions) - 1), name).toBeLessThan(0.2);
});
