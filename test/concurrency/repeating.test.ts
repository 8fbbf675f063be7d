import { expect, it, vi } from 'vitest';
import { createRepeating } from '../../src/concurrency/waiting.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

/** Ends each run when the test says so. */
function setUp(pauseMs = () => 100) {
  let begun = 0;
  let end = () => {};
  const repeating = createRepeating(() => {
    begun += 1;
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  }, pauseMs);
  return { repeating, begun: () => begun, end: () => end() };
}

it('The first run begins at once, and each other one a pause after the end of the previous one', async () => {
  const { repeating, begun, end } = setUp();
  repeating.start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun()).toBe(1);
  end();
  await vi.advanceTimersByTimeAsync(99);
  expect(begun()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun()).toBe(2);
});

it('A stop waits for the run in progress, and no other begins', async () => {
  const { repeating, begun, end } = setUp();
  repeating.start();
  await vi.advanceTimersByTimeAsync(1);
  let isStopped = false;
  void repeating.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(isStopped).toBe(false);
  end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([isStopped, begun(), vi.getTimerCount()]).toEqual([true, 1, 0]);
});

it('No run begins after a stop in a pause or before the start takes effect', async () => {
  const { repeating, begun } = setUp();
  repeating.start();
  await repeating.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([begun(), vi.getTimerCount()]).toEqual([0, 0]);
});

it('The pause is the one that is asked for at the end of the run before it', async () => {
  let ms = 100;
  const { repeating, begun, end } = setUp(() => ms);
  repeating.start();
  await vi.advanceTimersByTimeAsync(1);
  ms = 20;
  end();
  await vi.advanceTimersByTimeAsync(20);
  expect(begun()).toBe(2);
  ms = 300;
  end();
  await vi.advanceTimersByTimeAsync(299);
  expect(begun()).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun()).toBe(3);
  void repeating.stop();
});
