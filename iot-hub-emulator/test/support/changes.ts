/** What looks again for what somebody waits for, after each change. */
export function createChanges() {
  const checks = new Set<() => void>();
  return {
    changed() {
      for (const check of checks) check();
    },
    /** Resolves with what is found as soon as it is there. */
    until: <T>(found: () => T | undefined): Promise<T> =>
      new Promise((resolve) => {
        const check = () => {
          const value = found();
          if (value === undefined) return;
          checks.delete(check);
          resolve(value);
        };
        checks.add(check);
        check();
      }),
  };
}
