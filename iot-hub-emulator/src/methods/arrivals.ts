/** Who waits for a device or module to come. */
export interface Arrivals {
  /** Whether it comes within this time, in milliseconds. */
  wait(clientId: string, ms: number): Promise<boolean>;
  /** It has come. */
  arrived(clientId: string): void;
}

/** Nobody waits yet. */
export function createArrivals(): Arrivals {
  const expected = new Map<string, Set<() => void>>();

  return {
    wait: (clientId, ms) =>
      new Promise((resolve) => {
        const waiting = expected.get(clientId) ?? new Set();
        const end = (came: boolean): void => {
          clearTimeout(timer);
          waiting.delete(come);
          if (waiting.size === 0) expected.delete(clientId);
          resolve(came);
        };
        const come = () => end(true);
        const timer = setTimeout(end, ms, false).unref();
        expected.set(clientId, waiting.add(come));
      }),
    arrived(clientId) {
      for (const come of [...(expected.get(clientId) ?? [])]) come();
    },
  };
}
