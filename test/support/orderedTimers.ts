import { afterEach, beforeEach, vi } from 'vitest';

/** Timers that end when the test says so, as those of `vi` do, for tests that end hundreds of thousands of them. */
export interface OrderedTimers {
  /** Lets time pass. What a timer has begun goes on, up to the next timer, before that one ends. */
  pass(ms: number): Promise<void>;
  clear(): void;
}

interface Timer {
  readonly id: number;
  at: number;
  readonly everyMs: number | undefined;
  readonly call: () => void;
}

type Callback = (...args: unknown[]) => void;

const isBefore = (one: Timer, other: Timer) => one.at < other.at || (one.at === other.at && one.id < other.id);

/**
 * The time of each test that follows is its own. Those of `vi` look at all timers for each one that ends; these are kept
 * in the order in which they end.
 */
export function withOrderedTimers(): OrderedTimers {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis;
  /** The first to end comes last. */
  let timers: Timer[] = [];
  let count = 0;

  function insert(timer: Timer) {
    let [from, to] = [0, timers.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isBefore(timer, timers[middle] as Timer)) from = middle + 1;
      else to = middle;
    }
    timers.splice(from, 0, timer);
  }

  function start(callback: Callback, ms: number, everyMs: number | undefined, args: unknown[]) {
    count += 1;
    const timer: Timer = { id: count, at: performance.now() + ms, everyMs, call: () => callback(...args) };
    insert(timer);
    const handle = { timer, ref: () => handle, unref: () => handle, hasRef: () => true };
    return handle;
  }

  function stop(handle: ReturnType<typeof start> | undefined) {
    const index = handle === undefined ? -1 : timers.indexOf(handle.timer);
    if (index >= 0) timers.splice(index, 1);
  }

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
    timers = [];
    vi.useRealTimers();
  });

  const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));
  return {
    async pass(ms) {
      const until = performance.now() + ms;
      await settled();
      for (let next = timers.at(-1); next !== undefined && next.at <= until; next = timers.at(-1)) {
        timers.pop();
        vi.advanceTimersByTime(next.at - performance.now());
        if (next.everyMs !== undefined) insert(Object.assign(next, { at: next.at + next.everyMs }));
        next.call();
        await settled();
      }
      vi.advanceTimersByTime(until - performance.now());
    },
    clear() {
      timers = [];
    },
  };
}
