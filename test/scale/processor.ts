import type { VirtualTime } from './virtualTime.ts';

/** The one core that a process works with. */
export interface Processor {
  /** Resolves when the work has had its turn. */
  work(ms: number): Promise<void>;
  /** Begins to measure; the returned function says which share of the time since then it was busy. */
  measure(): () => number;
}

export function createProcessor(time: VirtualTime): Processor {
  let freeAt = 0;
  /** All work until then. */
  let workedMs = 0;

  /** Without what lies ahead. */
  const busyMs = () => workedMs - Math.max(0, freeAt - time.now());

  return {
    work(ms) {
      freeAt = Math.max(freeAt, time.now()) + ms;
      workedMs += ms;
      return new Promise((resolve) => setTimeout(resolve, freeAt - time.now()));
    },
    measure() {
      const [before, since] = [busyMs(), time.now()];
      return () => (busyMs() - before) / Math.max(1, time.now() - since);
    },
  };
}
