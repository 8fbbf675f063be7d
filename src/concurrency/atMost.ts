/** Lets so much work run at once, and the rest wait in the order in which it came. */
export function atMost(width: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async (work) => {
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift(); // takes the place over, before anybody else can
      if (next) next();
      else running -= 1;
    }
  };
}
