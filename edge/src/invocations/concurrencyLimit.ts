/** Limits the invocations in progress, in total and for each module. */
export interface ConcurrencyLimit {
  /** Returns its release; undefined when a limit is reached. */
  acquire(moduleId: string): (() => void) | undefined;
  readonly inFlight: number;
  /** Resolves when nothing is in progress. */
  idle(): Promise<void>;
}

interface Limits {
  readonly inFlight: number;
  readonly inFlightPerModule: number;
}

/** @param limits in effect */
export function createConcurrencyLimit(limits: () => Limits): ConcurrencyLimit {
  const perModule = new Map<string, number>();
  let inFlight = 0;
  let onIdle: (() => void)[] = [];

  function release(moduleId: string) {
    inFlight -= 1;
    const remaining = (perModule.get(moduleId) ?? 1) - 1;
    if (remaining === 0) perModule.delete(moduleId);
    else perModule.set(moduleId, remaining);
    if (inFlight > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  return {
    acquire(moduleId) {
      const ofModule = perModule.get(moduleId) ?? 0;
      const most = limits();
      if (inFlight >= most.inFlight || ofModule >= most.inFlightPerModule) return undefined;
      inFlight += 1;
      perModule.set(moduleId, ofModule + 1);
      return () => release(moduleId);
    },
    get inFlight() {
      return inFlight;
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
  };
}
