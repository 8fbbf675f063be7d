import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { createTimerQueue, type QueuedTimer } from '../support/timerQueue.ts';

/** A process on a machine of its own, as far as timers and clocks go. */
export interface Machine {
  /** How far its clock of the day is ahead of the world's, in milliseconds. */
  readonly clockAheadMs: number;
  /** When the process began, in milliseconds of the world: its other clock begins there. */
  readonly bornAt: number;
  /** Its timers end no more. */
  isDead: boolean;
  /** Until then its timers wait, in milliseconds of the world. */
  frozenUntil: number;
}

/**
 * The time of a world in which many processes run in this one. It passes as fast as the work is done. From `begin` to `end`,
 * timers, clocks and random numbers of the whole process are those of the world.
 */
export interface VirtualTime {
  /** Milliseconds since the world began. */
  now(): number;
  /** What is done in the call, and all that comes of it, the machine does. */
  on<T>(machine: Machine, what: () => T): T;
  /** The same for what no machine does: the hub, the storage, the world around them. */
  outside<T>(what: () => T): T;
  /** Lets time pass. What a timer has begun goes on, up to the next timer, before that one ends. */
  pass(ms: number): Promise<void>;
  end(): void;
}

type Callback = (...args: unknown[]) => void;

/** What is replaced. Kept from the beginning: a world may be made while another lasts. */
const real = {
  ...{ setTimeout, clearTimeout, setInterval, clearInterval, Date },
  ...{ now: performance.now, abortAfter: AbortSignal.timeout, random: Math.random },
};
const turnOfTheLoop = setImmediate;
const promised = createRequire(import.meta.url)('node:timers/promises');
const realSleep = promised.setTimeout;

/** When each world begins, in ms since 1970. */
const beginning = real.Date.UTC(2026, 0, 1);

/** @param random from 0 to 1, without 1 */
export function beginVirtualTime(random: () => number): VirtualTime {
  const running = new AsyncLocalStorage<Machine | undefined>();
  const timers = createTimerQueue();
  let now = 0;

  function start(callback: Callback, ms: number, everyMs: number | undefined, args: unknown[]) {
    const machine = running.getStore();
    if (machine?.isDead) return undefined;
    const call = () => {
      if (machine?.isDead) return timers.stop(timer);
      if (machine !== undefined && machine.frozenUntil > now) timers.postpone(timer, machine.frozenUntil);
      else running.run(machine, callback, ...args);
    };
    const timer = timers.start(now + ms, everyMs, call);
    return timer;
  }

  function handleOf(timer: QueuedTimer | undefined) {
    const handle = { timer, ref: () => handle, unref: () => handle, hasRef: () => true };
    return handle;
  }

  function stop(handle: ReturnType<typeof handleOf> | undefined) {
    if (handle?.timer === undefined) return;
    timers.stop(handle.timer);
  }

  const wholeMs = (ms = 0) => Math.max(1, Math.trunc(ms));
  const timeOfDay = () => beginning + Math.floor(now) + (running.getStore()?.clockAheadMs ?? 0);

  class VirtualDate extends real.Date {
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [timeOfDay()] : args) as [number]));
    }
    static override now = timeOfDay;
  }

  Object.assign(globalThis, {
    Date: VirtualDate,
    setTimeout: (callback: Callback, ms?: number, ...args: unknown[]) =>
      handleOf(start(callback, wholeMs(ms), undefined, args)),
    setInterval: (callback: Callback, ms?: number, ...args: unknown[]) =>
      handleOf(start(callback, wholeMs(ms), wholeMs(ms), args)),
    clearTimeout: stop,
    clearInterval: stop,
  });
  performance.now = () => now - (running.getStore()?.bornAt ?? 0);
  Math.random = random;
  AbortSignal.timeout = (ms) => {
    const over = new AbortController();
    start(
      () => over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      ms,
      undefined,
      [],
    );
    return over.signal;
  };
  promised.setTimeout = (ms: number, value: unknown) =>
    new Promise((resolve) => void start(resolve as Callback, wholeMs(ms), undefined, [value]));
  syncBuiltinESMExports();

  const settled = () => new Promise<void>((resolve) => void turnOfTheLoop(resolve));
  return {
    now: () => now,
    on: (machine, what) => running.run(machine, what),
    outside: (what) => running.run(undefined, what),
    async pass(ms) {
      const until = now + ms;
      await settled();
      for (let next = timers.next(until); next !== undefined; next = timers.next(until)) {
        now = next.endsAt;
        next.timer.call();
        await settled();
      }
      now = until;
    },
    end() {
      timers.clear();
      const { now: realNow, abortAfter, random: realRandom, ...globals } = real;
      Object.assign(globalThis, globals);
      performance.now = realNow;
      Math.random = realRandom;
      AbortSignal.timeout = abortAfter;
      promised.setTimeout = realSleep;
      syncBuiltinESMExports();
    },
  };
}
