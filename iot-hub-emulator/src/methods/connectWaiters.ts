/** Method calls that wait for a device or module to connect. */
export interface ConnectWaiters {
  /** Whether it connects within this time, in milliseconds. */
  wait(clientId: string, ms: number): Promise<boolean>;
  /** It has connected. */
  connected(clientId: string): void;
}

/** No waiters at first. */
export function createConnectWaiters(): ConnectWaiters {
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
    connected(clientId) {
      for (const come of [...(expected.get(clientId) ?? [])]) come();
    },
  };
}
