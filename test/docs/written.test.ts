import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { messagePages, undecided } from '../../scripts/messagePages.ts';
import { storageRequests } from '../../scripts/sizingPage.ts';
import { writtenPages } from '../../scripts/writtenPages.ts';
import type { Outcome } from '../scale/run.ts';

it.each(writtenPages)('%s is up to date: run `npm run docs`', (file, rewritten) => {
  const page = readFileSync(file, 'utf8');
  expect(rewritten(page)).toBe(page);
});

it.each(Object.keys(messagePages))('%s has no open decision', (file) => {
  const lines = readFileSync(file, 'utf8').split('\n');
  expect(lines.filter((line) => line.includes(undecided))).toEqual([]);
});

it('docs/sizing.md counts as many requests to the storage as the simulated instances made in a quiet time', () => {
  const { outcomes, partitions } = JSON.parse(readFileSync('docs/measurements/scale.json', 'utf8'));
  const quiet = (outcomes as Outcome[]).filter(({ storage }) => storage.quiet > 0);
  expect(quiet.length).toBeGreaterThan(5);
  for (const { name, before, storage } of quiet)
    expect(Math.abs(storage.quiet / storageRequests(before, partitions) - 1), name).toBeLessThan(0.2);
});
