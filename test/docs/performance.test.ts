import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { storageRequests } from '../../scripts/sizingPage.ts';
import type { Outcome } from '../scale/run.ts';

it('docs/sizing.md counts as many requests to the storage as the simulated instances made in a quiet time', () => {
  const { outcomes, partitions } = JSON.parse(readFileSync('docs/measurements/scale.json', 'utf8'));
  const quiet = (outcomes as Outcome[]).filter(({ storage }) => storage.quiet > 0);
  expect(quiet.length).toBeGreaterThan(5);
  for (const { name, before, storage } of quiet)
    expect(Math.abs(storage.quiet / storageRequests(before, partitions) - 1), name).toBeLessThan(0.2);
});
