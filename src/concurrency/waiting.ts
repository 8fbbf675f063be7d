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

/** Does the work for a few inputs at a time; begins none after a failure. @returns the results in the order of the inputs */
export async function inOrder<In, Out>(together: number, inputs: readonly In[], work: (input: In) => Promise<Out>) {
  const results: Out[] = [];
  let next = 0;
  async function worker() {
    try {
      for (let index = next++; index < inputs.length; index = next++) results[index] = await work(inputs[index] as In);
    } catch (error) {
      next = inputs.length;
      throw error;
    }
  }
  await Promise.all(Array.from({ length: Math.min(together, inputs.length) }, worker));
  return results;
}

export class TooLate extends Error {
  override readonly name = 'TooLate';
}

/** The result of the promise, if it settles in time. The promise is not cancelled. @throws TooLate */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(`no answer within ${Math.round(ms)} ms`)), ms);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for the promise, but no longer than that: whether it was in time. @throws what the promise throws in time */
export async function endsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  try {
    await within(promise, ms);
    return true;
  } catch (error) {
    if (error instanceof TooLate) return false;
    throw error;
  }
}

/** The work, once at a time: a call while it runs gets what that comes to. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** What `open` gives, opened at the first call; after a failure the next call opens it again. */
export function lazy<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open().catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}

/** Not that of `node:timers/promises`, which takes no part in virtual time. */
export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Resolves after `ms`, or when `ended` is aborted. */
export function pause(ms: number, ended: AbortSignal): Promise<void> {
  if (ended.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      ended.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    ended.addEventListener('abort', end);
  });
}

/** Calls `run`, which never rejects, again and again, with a pause after each end; `pauseMs` is asked each time. */
export function createRepeating(run: () => Promise<void>, pauseMs: () => number) {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();

  function after(ms: number) {
    timer = setTimeout(() => {
      running = run().then(() => (isStopped ? undefined : after(pauseMs())));
    }, ms);
  }

  return {
    start: () => after(0),
    /** Begins it no more; resolves when it has ended. */
    stop() {
      isStopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

export type Condition = ReturnType<typeof createCondition>;

export function createCondition() {
  let waiting: (() => void)[] = [];
  const change = () => new Promise<void>((resolve) => waiting.push(resolve));

  return {
    changed() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    change,
    /** Resolves when `isSo` returns false, now or after a change, or after the limit. */
    async waitWhile(isSo: () => boolean, limitMs: number) {
      const until = performance.now() + limitMs;
      while (isSo() && performance.now() < until) await within(change(), until - performance.now()).catch(() => {});
    },
  };
}
