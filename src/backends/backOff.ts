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

/** A number of seconds, or a date as HTTP writes it, to be passed on; undefined for anything else. */
export function plainRetryAfter(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return /^\d{1,10}$/.test(value) || isHttpDate(value) ? value : undefined;
}

/** RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`. */
function isHttpDate(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toUTCString() === text;
}
