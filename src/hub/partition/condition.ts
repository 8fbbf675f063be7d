import { within } from '../../concurrency/within.ts';

/** Something that changes now and then, and who waits for that. */
export interface Condition {
  changed(): void;
  /** Until the next change. */
  change(): Promise<void>;
  /** For so long at most, in milliseconds. */
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
