import { uptime } from 'node:os';
import type { Clocks } from './clocks.ts';

/** Notices that this process has not run for a while: it was stopped, or its machine was suspended (D179). */
export interface StandstillWatch {
  /** To be called before each step with an effect outside the process: it may be the first one after a standstill. */
  look(): void;
  stop(): void;
}

/** More than the wall clock is ever adjusted by between two looks unless it is set, and than `sinceBoot` is inexact by. */
const driftMs = 1_000;

const clocksOfMachine: Clocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  sinceBoot: () => uptime() * 1000,
};

/** @param stoodStill called with the milliseconds of a standstill that was longer than `longestMs` */
export function createStandstillWatch(
  longestMs: number,
  stoodStill: (ms: number) => void,
  clocks: Clocks = clocksOfMachine,
): StandstillWatch {
  let last = { monotonic: clocks.monotonic(), wall: clocks.wall() };
  let bootedBefore = clocks.sinceBoot() - last.monotonic;

  /** The monotonic clock leaves it out on Linux. Asked only after a look of which the wall clock tells another time. */
  function suspendedMs(monotonic: number): number {
    const before = bootedBefore;
    bootedBefore = clocks.sinceBoot() - monotonic;
    const ms = bootedBefore - before;
    return ms > driftMs ? ms : 0;
  }

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
