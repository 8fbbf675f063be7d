import { afterEach, beforeEach, vi } from 'vitest';
import { createTimerQueue, type QueuedTimer } from './timerQueue.ts';

export type OrderedTimers = ReturnType<typeof withOrderedTimers>;

type Callback = (...args: unknown[]) => void;

/**
 * Timers that end when the test says so, as those of `vi` do, for tests that end hundreds of thousands of them. The time of each test that
 * follows is its own. Those of `vi` look at all timers for each one that ends; these are kept
 * in the order in which they end.
 */
export function withOrderedTimers() {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis;
  const timers = createTimerQueue();

  function start(callback: Callback, ms: number, everyMs: number | undefined, args: unknown[]) {
    const timer = timers.start(performance.now() + ms, everyMs, () => callback(...args));
    const handle = { timer, ref: () => handle, unref: () => handle, hasRef: () => true };
    return handle;
  }

  const stop = (handle: { readonly timer: QueuedTimer } | undefined) => {
    if (handle !== undefined) timers.stop(handle.timer);
  };

  const wholeMs = (ms = 0) => Math.max(1, Math.trunc(ms));
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    Object.assign(globalThis, {
      setTimeout: (callback: Callback, ms?: number, ...args: unknown[]) =>
        start(callback, wholeMs(ms), undefined, args),
      setInterval: (callback: Callback, ms?: number, ...args: unknown[]) =>
        start(callback, wholeMs(ms), wholeMs(ms), args),
      clearTimeout: stop,
      clearInterval: stop,
    });
  });
  afterEach(() => {
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
    timers.clear();
    vi.useRealTimers();
  });

  const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));
  return {
    /** Lets time pass. What a timer has begun goes on, up to the next timer, before that one ends. */
    async pass(ms: number) {
      const until = performance.now() + ms;
      await settled();
      for (let next = timers.next(until); next !== undefined; next = timers.next(until)) {
        vi.advanceTimersByTime(next.endsAt - performance.now());
        next.timer.call();
        await settled();
      }
      vi.advanceTimersByTime(until - performance.now());
    },
    clear: timers.clear,
  };
}
