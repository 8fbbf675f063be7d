import { afterEach, describe, expect, it, vi } from 'vitest';
import { createStandstillWatch, type StandstillWatch } from '../../src/concurrency/standstill.ts';
import { withFakeTimers } from '../support/fakeTimers.ts';

/** This thread does nothing for so long, and no timer of it fires. */
const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

let watch: StandstillWatch | undefined;
afterEach(() => watch?.stop());

function setUp(longestMs: number) {
  const standstills: number[] = [];
  watch = createStandstillWatch(longestMs, (ms) => standstills.push(ms));
  return { standstills, watch };
}

describe('a standstill', () => {
  it('is noticed at the next step, before any timer, and once', () => {
    const { standstills, watch } = setUp(50);
    standStill(60);
    watch.look();
    watch.look();
    expect(standstills).toHaveLength(1);
    expect(standstills[0]).toBeGreaterThanOrEqual(60);
  });

  it('is noticed when there is no next step', async () => {
    const { standstills } = setUp(50);
    standStill(60);
    await expect.poll(() => standstills).toHaveLength(1);
  });

  it('is not what is shorter', () => {
    const { standstills, watch } = setUp(60_000);
    standStill(60);
    watch.look();
    expect(standstills).toEqual([]);
  });
});

describe('a time without any step', () => {
  withFakeTimers();

  it('is no standstill: the watch runs by itself', async () => {
    const { standstills, watch } = setUp(1_000);
    await vi.advanceTimersByTimeAsync(60_000);
    watch.look();
    expect(standstills).toEqual([]);
  });
});
