/** How long to wait before an attempt is repeated (B4), in ms: for the first retry (0), the second (1) … */
export type BackOff = (retry: number) => number;

/**
 * Exponential with full jitter, so that messages which failed together do not come back together.
 * @param random from 0 to 1
 */
export const createBackOff =
  (baseMs: number, maxMs: number, random: () => number = Math.random): BackOff =>
  (retry) =>
    random() * Math.min(maxMs, baseMs * 2 ** retry);

/** What `Retry-After` asks for, a number of seconds or an HTTP date, in ms; anything else asks for nothing. */
export function retryAfterMs(value: string | undefined): number {
  if (value === undefined) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
