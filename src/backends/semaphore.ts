import type { Deadline } from './deadline.ts';

/** Limits how many callers hold a place at a time. The others wait, first come, first served; those who go first before the rest. */
export interface Semaphore {
  /** Takes a free place; false when there is none. The caller gives the place back with `release`. */
  tryAcquire(): boolean;
  /**
   * For use after `tryAcquire` has failed: resolves when the caller holds a place. When it throws, the caller holds none.
   * @param waitingFor words for `details`
   * @param goesFirst before all that do not
   * @throws Rejection timeout_exceeded
   * @throws Cancelled
   */
  acquire(deadline: Deadline, waitingFor: string, goesFirst?: boolean): Promise<void>;
  release(): void;
  inUse(): number;
  /** Callers of `acquire` that hold no place yet. */
  waiting(): number;
}

export function createSemaphore(count: number): Semaphore {
  let free = count;
  const first = createQueue();
  const rest = createQueue();

  function release() {
    const next = first.shift() ?? rest.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    tryAcquire() {
      if (free === 0) return false;
      free -= 1;
      return true;
    },
    async acquire(deadline, waitingFor, goesFirst = false) {
      const { waiters } = goesFirst ? first : rest;
      let enter = () => {};
      const acquired = new Promise<void>((resolve) => {
        enter = resolve;
      });
      waiters.add(enter);
      try {
        await deadline.race(acquired, waitingFor);
      } catch (error) {
        if (!waiters.delete(enter)) release(); // it got a place at the moment when its time was over
        throw error;
      }
    },
    release,
    inUse: () => count - free,
    waiting: () => first.waiters.size + rest.waiters.size,
  };
}

function createQueue() {
  const waiters = new Set<() => void>();
  // One iterator for the whole life of the set: a new one would first pass over every deleted entry.
  const inOrder = waiters.values();

  return {
    waiters,
    shift(): (() => void) | undefined {
      const next = waiters.size > 0 ? inOrder.next().value : undefined;
      if (next !== undefined) waiters.delete(next);
      return next;
    },
  };
}
