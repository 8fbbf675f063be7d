import { uptime } from 'node:os';

// Inside the process, times are milliseconds of `performance.now()`, which cannot be set. `Date.now()` tells only the time of day: for people,
// for other machines, and to compare with their times (D180).

/** The time of day at a point in time, in ms since 1970, by the clock as it is set now. */
export const dateOf = (at: number): number => Math.round(Date.now() - (performance.now() - at));

/** The `performance.now()` of another machine's time, in ms since 1970, asked when it arrives. A time ahead of this clock counts as now. */
export const monotonicOfPast = (time: number): number => performance.now() - Math.max(0, Date.now() - time);

/** The same of a time to come, such as the end of a token. A time behind this machine's clock counts as now. */
export const monotonicOfComing = (time: number): number => performance.now() + Math.max(0, time - Date.now());

/** Seconds as people read them. */
export const inTenths = (seconds: number): number => Math.round(10 * seconds) / 10;

export const secondsSince = (at: number): number => inTenths((performance.now() - at) / 1000);
export const shownTime = (at: number): string => new Date(dateOf(at)).toISOString();
export const ageOf = (at: number) => ({ since: shownTime(at), seconds: secondsSince(at) });
/** More than the wall clock is ever adjusted by between two looks unless it is set, and than `sinceBoot` is inexact by. */
const driftMs = 1_000;

const clocksOfMachine = {
  /** Can't be set, and on Linux stands still while the machine is suspended. */
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  /** Goes on while the machine is suspended; exact to a second, and dear: a system call or two. */
  sinceBoot: () => uptime() * 1000,
};

/** Notices that this process was stopped, or its machine suspended (D179). @param stoodStill called with the ms of more than `longestMs` */
export function createProcessPauseWatch(longestMs: number, stoodStill: (ms: number) => void, clocks = clocksOfMachine) {
  let last = { monotonic: clocks.monotonic(), wall: clocks.wall() };
  let bootedBefore = clocks.sinceBoot() - last.monotonic;

  /** The monotonic clock leaves it out on Linux. Asked only after a look of which the wall clock tells another time. */
  function suspendedMs(monotonic: number): number {
    const before = bootedBefore;
    bootedBefore = clocks.sinceBoot() - monotonic;
    const ms = bootedBefore - before;
    return ms > driftMs ? ms : 0;
  }

  /** To be called before each step with an effect outside the process: it may be the first one after a standstill. */
  function look() {
    const now = { monotonic: clocks.monotonic(), wall: clocks.wall() };
    const ranMs = now.monotonic - last.monotonic;
    const haveDrifted = Math.abs(now.wall - last.wall - ranMs) > driftMs;
    last = now;
    const ms = haveDrifted ? ranMs + suspendedMs(now.monotonic) : ranMs;
    if (ms > longestMs) stoodStill(ms);
  }

  const timer = setInterval(look, longestMs / 4).unref();
  return { look, stop: () => clearInterval(timer) };
}
