/** Notices that this process has not run for a while: it was stopped, or its machine slept (D179). */
export interface StandstillWatch {
  /** To be called before each step with an effect outside the process: it may be the first one after a standstill. */
  look(): void;
  stop(): void;
}

/** @param stoodStill called with the milliseconds of a standstill that was longer than `longestMs` */
export function createStandstillWatch(longestMs: number, stoodStill: (ms: number) => void): StandstillWatch {
  let lookedAt = performance.now();

  function look() {
    const now = performance.now();
    const ms = now - lookedAt;
    lookedAt = now;
    if (ms > longestMs) stoodStill(ms);
  }

  const timer = setInterval(look, longestMs / 4).unref();
  return { look, stop: () => clearInterval(timer) };
}
