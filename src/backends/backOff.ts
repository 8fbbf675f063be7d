/** How long to wait before an attempt is repeated (B4). */
export type BackOff = (retry: number, retryAfter?: string) => number;

/**
 * Exponential with full jitter, so that messages which failed together do not come back together. What the backend asks
 * for in `Retry-After` comes on top.
 * @param random from 0 to 1
 * @returns ms, for the first retry (0), the second (1) …
 */
export const createBackOff =
  (baseMs: number, maxMs: number, random: () => number = Math.random): BackOff =>
  (retry, retryAfter) =>
    random() * Math.min(maxMs, baseMs * 2 ** retry) + retryAfterMs(retryAfter);

/** `Retry-After` is a number of seconds or an HTTP date; anything else asks for nothing. */
function retryAfterMs(value: string | undefined): number {
  if (value === undefined) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
