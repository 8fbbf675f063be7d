/** Calls back after a time unless cancelled before. */
export interface Timeouts {
  /** @returns a function that cancels it */
  start(ms: number, expired: () => void): () => void;
}

/**
 * Nearly all attempts have the same limit, so they expire in the order of their start: one timer, set for the oldest,
 * serves them all. Other limits get their own timers.
 */
export function createTimeouts(usualMs: number): Timeouts {
  const waiting = new Map<() => void, number>();
  let timer: NodeJS.Timeout | undefined;

  function tick() {
    timer = undefined;
    const now = performance.now();
    for (const [expired, due] of waiting) {
      if (due > now) {
        timer = setTimeout(tick, Math.ceil(due - now)).unref();
        return;
      }
      waiting.delete(expired);
      expired();
    }
  }

  return {
    start(ms, expired) {
      if (ms !== usualMs) {
        const own = setTimeout(expired, ms);
        return () => clearTimeout(own);
      }
      waiting.set(expired, performance.now() + ms);
      if (timer === undefined) timer = setTimeout(tick, ms).unref();
      return () => waiting.delete(expired);
    },
  };
}
