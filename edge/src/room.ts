/** How many invocations are in work, in all and for each module. */
export interface Room {
  /** Takes a place; the answer gives it back. Undefined when there is none. */
  enter(moduleId: string): (() => void) | undefined;
  readonly inWork: number;
  /** Resolves when nothing is in work. */
  empty(): Promise<void>;
}

interface Limits {
  readonly inFlight: number;
  readonly inFlightPerModule: number;
}

export function createRoom({ inFlight, inFlightPerModule }: Limits): Room {
  const perModule = new Map<string, number>();
  let inWork = 0;
  let emptied: (() => void)[] = [];

  function leave(moduleId: string) {
    inWork -= 1;
    const left = (perModule.get(moduleId) ?? 1) - 1;
    if (left === 0) perModule.delete(moduleId);
    else perModule.set(moduleId, left);
    if (inWork > 0) return;
    for (const resolve of emptied) resolve();
    emptied = [];
  }

  return {
    enter(moduleId) {
      const before = perModule.get(moduleId) ?? 0;
      if (inWork >= inFlight || before >= inFlightPerModule) return undefined;
      inWork += 1;
      perModule.set(moduleId, before + 1);
      return () => leave(moduleId);
    },
    get inWork() {
      return inWork;
    },
    empty: () => (inWork === 0 ? Promise.resolve() : new Promise((resolve) => emptied.push(resolve))),
  };
}
