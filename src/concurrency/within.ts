/** The promise did not settle in time. */
export class TooLate extends Error {
  override readonly name = 'TooLate';
}

/**
 * The result of the promise, if it settles in time. The promise is not cancelled.
 * @throws TooLate
 */
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

/**
 * Waits for the promise, but no longer than that.
 * @returns whether it was in time
 * @throws what the promise throws in time
 */
export async function endsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  try {
    await within(promise, ms);
    return true;
  } catch (error) {
    if (error instanceof TooLate) return false;
    throw error;
  }
}
