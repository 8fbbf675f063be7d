import { expect, it, vi } from 'vitest';
import { Cancelled, createDeadline } from '../../src/backends/deadline.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

it('what others hold up does not count', async () => {
  const deadline = createDeadline(10);
  await vi.advanceTimersByTimeAsync(4_000);
  let come = (_: string) => {};
  const waited = deadline.untimed(new Promise<string>((resolve) => (come = resolve)));
  await vi.advanceTimersByTimeAsync(60_000);
  come('room');
  expect(await waited).toBe('room');
  expect(deadline.remaining()).toBe(6_000);
});

it('the wait for what others hold up ends with the partition', async () => {
  const ended = new AbortController();
  const waited = createDeadline(10, ended.signal).untimed(new Promise(() => {}));
  ended.abort();
  await expect(waited).rejects.toBeInstanceOf(Cancelled);
});
