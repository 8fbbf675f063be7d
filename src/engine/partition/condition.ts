import { within } from '../../concurrency/within.ts';

/** A condition variable. */
export interface Condition {
  /** Wakes all that wait. */
  changed(): void;
  /** Resolves at the next change. */
  change(): Promise<void>;
  /** Resolves when `isSo` returns false, now or after a change, or after the limit. */
  waitWhile(isSo: () => boolean, limitMs: number): Promise<void>;
}

export function createCondition(): Condition {
  let waiting: (() => void)[] = [];
  const change = () => new Promise<void>((resolve) => waiting.push(resolve));

  return {
    changed() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    change,
    async waitWhile(isSo, limitMs) {
      const until = performance.now() + limitMs;
      while (isSo() && performance.now() < until) await within(change(), until - performance.now()).catch(() => {});
    },
  };
}
