/** The wait before a retry (B4), in ms. The first retry has number 0. */
export type BackOff = (retry: number) => number;

/**
 * Exponential with full jitter, so that messages that fail together do not retry together.
 * @param random from 0 to 1
 */
export const createBackOff =
  (baseMs: number, maxMs: number, random: () => number = Math.random): BackOff =>
  (retry) =>
    random() * Math.min(maxMs, baseMs * 2 ** retry);

/** `Retry-After`, a number of seconds or an HTTP date, in ms; 0 when it is absent or invalid. */
export function retryAfterMs(value: string | undefined): number {
  if (value === undefined) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
