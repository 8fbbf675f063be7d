/** Limits the work that runs at once; the rest waits in the order of its arrival. */
export function atMost(width: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async (work) => {
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift(); // passes its place on to the next
      if (next) next();
      else running -= 1;
    }
  };
}
