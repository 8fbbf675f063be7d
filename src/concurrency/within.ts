/** The promise did not settle in time. */
class TooLate extends Error {
  override readonly name = 'TooLate';
}

/**
 * The result of the promise, if it settles in time. The promise is not cancelled.
 * @throws TooLate
 */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
