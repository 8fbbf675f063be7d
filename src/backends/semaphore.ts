import type { Deadline } from './deadline.ts';

/** A number of places, each of which one can hold at a time; who finds none waits, first come, first served. */
export interface Semaphore {
  /** Whether there was a free one. It is the caller's now, who gives it back by `release`. */
  take(): boolean;
  /**
   * When none is free: resolves when it is the caller's turn, who then has one. Who cannot wait any longer leaves the line at once, and has none.
   * @param waitingFor words for `details`
   * @throws Rejection timeout_exceeded
   * @throws Abandoned
   */
  turn(deadline: Deadline, waitingFor: string): Promise<void>;
  release(): void;
}

export function createSemaphore(count: number): Semaphore {
  let free = count;
  const line = new Set<() => void>();
  // One for good: it goes on behind whom it has called last, however many have left before their turn.
  const ahead = line.values();

  function release() {
    const next = line.size > 0 ? ahead.next().value : undefined;
    if (next === undefined) {
      free += 1;
      return;
    }
    line.delete(next);
    next(); // has it before anybody else can
  }

  return {
    take() {
      if (free === 0) return false;
      free -= 1;
      return true;
    },
    async turn(deadline, waitingFor) {
      let enter = () => {};
      const called = new Promise<void>((resolve) => {
        enter = resolve;
      });
      line.add(enter);
      try {
        await deadline.race(called, waitingFor);
      } catch (error) {
        if (!line.delete(enter)) release(); // called in the very moment of leaving
        throw error;
      }
    },
    release,
  };
}
