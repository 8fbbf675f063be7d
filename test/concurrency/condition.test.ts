import { expect, it, vi } from 'vitest';
import { createCondition } from '../../src/concurrency/waiting.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

it('a wait for a condition ends at its limit, however long the process has run', async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  const condition = createCondition();
  let isOver = false;
  void condition.waitWhile(() => true, 1_000).then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(500);
  condition.changed();
  await vi.advanceTimersByTimeAsync(499);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
});
