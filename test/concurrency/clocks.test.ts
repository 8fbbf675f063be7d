import { afterEach, describe, expect, it, vi } from 'vitest';
import { createProcessPauseWatch } from '../../src/concurrency/clocks.ts';
import { withFakeTimers } from '../support/waiting.ts';

/** This thread does nothing for so long, and no timer of it fires. */
const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

let watch: ReturnType<typeof createProcessPauseWatch> | undefined;
afterEach(() => watch?.stop());

function setUp(longestMs: number) {
  const standstills: number[] = [];
  watch = createProcessPauseWatch(longestMs, (ms) => standstills.push(ms));
  return { standstills, watch };
}

describe('a standstill', () => {
  it('is detected at the next step, before any timer, and once', () => {
    const { standstills, watch } = setUp(500);
    standStill(550);
    watch.look();
    watch.look();
    expect(standstills).toHaveLength(1);
    expect(standstills[0]).toBeGreaterThanOrEqual(550);
  });

  it('is detected without a next step', async () => {
    const { standstills } = setUp(50);
    standStill(60);
    await expect.poll(() => standstills[0]).toBeGreaterThanOrEqual(60);
  });

  it('is not looked for after a stop', () => {
    vi.useFakeTimers();
    const { watch } = setUp(50);
    expect(vi.getTimerCount()).toBe(1);
    watch.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a period without steps', () => {
  withFakeTimers();

  it('is not a standstill, because the watch runs by itself', async () => {
    const { standstills, watch } = setUp(1_000);
    await vi.advanceTimersByTimeAsync(60_000);
    watch.look();
    expect(standstills).toEqual([]);
  });
});

describe('a machine whose clocks disagree', () => {
  withFakeTimers();

  /** A machine that has run for a day. @param bootResolutionMs the clock since boot counts in such steps */
  function machine(bootResolutionMs = 10) {
    const time = { monotonic: 86_400_000, wall: 1.8e12, sinceBoot: 86_400_000 };
    let bootAsked = 0;
    const clocks: Parameters<typeof createProcessPauseWatch>[2] = {
      monotonic: () => time.monotonic,
      wall: () => time.wall,
      sinceBoot() {
        bootAsked += 1;
        return Math.floor(time.sinceBoot / bootResolutionMs) * bootResolutionMs;
      },
    };
    const standstills: number[] = [];
    watch = createProcessPauseWatch(30_000, (ms) => standstills.push(ms), clocks);
    const { look } = watch;
    return {
      standstills,
      look,
      bootAsked: () => bootAsked,
      runs(ms: number) {
        for (const name of ['monotonic', 'wall', 'sinceBoot'] as const) time[name] += ms;
      },
      isSuspended(ms: number) {
        time.wall += ms;
        time.sinceBoot += ms;
      },
      isSet(ms: number) {
        time.wall += ms;
      },
    };
  }

  it.each([10, 1_000])('stood still while it was suspended; its boot clock is exact to %d ms', (resolutionMs) => {
    const { standstills, look, runs, isSuspended } = machine(resolutionMs);
    runs(5_123);
    look();
    isSuspended(600_000);
    look();
    look();
    expect(standstills).toHaveLength(1);
    expect(Math.abs((standstills[0] ?? 0) - 600_000)).toBeLessThanOrEqual(resolutionMs);
  });

  it('stood still for as long as it was suspended and did not run together', () => {
    const { standstills, look, runs, isSuspended } = machine();
    isSuspended(20_000);
    runs(15_000);
    look();
    expect(standstills).toEqual([35_000]);
  });

  it.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('did not stand still when its clock was set %s', (_, stepMs) => {
    const { standstills, look, runs, isSet } = machine();
    runs(5_000);
    isSet(stepMs);
    look();
    runs(5_000);
    look();
    expect(standstills).toEqual([]);
  });

  it('stood still when it was suspended after its clock had been set', () => {
    const { standstills, look, isSet, isSuspended } = machine();
    isSet(-3_600_000);
    look();
    isSuspended(60_000);
    look();
    expect(standstills).toEqual([60_000]);
  });

  it('did not stand still in a short suspension', () => {
    const { standstills, look, isSuspended } = machine();
    for (let time = 0; time < 10; time += 1) {
      isSuspended(29_000);
      look();
    }
    expect(standstills).toEqual([]);
  });

  it('is asked for its time since boot only when the others have drifted apart', () => {
    const { look, runs, isSet, bootAsked } = machine();
    expect(bootAsked()).toBe(1);
    for (let time = 0; time < 1_000; time += 1) {
      runs(1);
      isSet(1); // an adjustment that is no step
      look();
    }
    expect(bootAsked()).toBe(1);
    isSet(5_000);
    look();
    expect(bootAsked()).toBe(2);
  });
});
