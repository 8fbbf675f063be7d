import { expect, it } from 'vitest';
import { createBackOff } from '../../src/backends/backOff.ts';

it.each([
  [1, [100, 200, 400, 800, 1_000, 1_000]],
  [0.5, [50, 100, 200, 400, 500, 500]],
  [0, [0, 0, 0, 0, 0, 0]],
])('With chance %d the waits before retries are %j ms', (chance, waits) => {
  const backOff = createBackOff(100, 1_000, () => chance);
  expect(waits.map((_, retry) => backOff(retry))).toEqual(waits);
});

it('Unless a test says otherwise, chance decides each wait', () => {
  const backOff = createBackOff(100, 1_000);
  const waits = Array.from({ length: 20 }, () => backOff(0));
  expect(new Set(waits).size).toBeGreaterThan(1);
  expect(waits.filter((ms) => ms < 0 || ms > 100)).toEqual([]);
});
