import { expect } from 'vitest';

/** Like `expect.poll`, with the patience that a busy machine needs. */
export function eventually<T>(get: () => T) {
  return expect.poll(get, { timeout: 10_000, interval: 20 });
}
