import { Refusal } from '../values/refusal.ts';
import type { Limit, Limits, Operation } from './tiers.ts';

/** Counts operations against the limits of the hub. */
export interface Throttle {
  /**
   * Count `size` operations. Refuses with `com.microsoft:device-container-throttled` when the limit of this window is used
   * up. A window begins with its first operation; what is larger than the limit needs a window of its own.
   */
  take(operation: Operation, size?: number): void;
  /**
   * Count one operation as a hub that shapes does: as many as the limit says pass at once, then they are held back and pass
   * at its rate, in the order in which they came. `go` is called when it passes, or with the refusal: of what comes when as
   * many are held back as may be, of what was held back too long, or of all above the rate when this hub does not shape.
   */
  shape(operation: Operation, proceed: (refusal?: Refusal) => void): void;
  /** Stop the timers: what is held back is never released. */
  close(): void;
}

/** How a hub holds operations back. */
export interface Shaping {
  /** Longest time, in milliseconds; 0: it refuses at once. */
  ms?: number | undefined;
  /** Most operations of a kind held back; by default as many as pass in that time, and at most `longestBacklog`. */
  backlog?: number | undefined;
}

/** Azure says neither how long a hub holds operations back nor how many; these are guesses. */
export const longestShapingMs = 60_000;
const longestBacklog = 1000;

const refusals = {
  limit: 'ErrorCode:ThrottlingException;429001: the hub allows no more such operations at the moment.',
  backlog: 'ErrorCode:ThrottleBacklogLimitExceeded;429002: the hub holds back as many operations as it may.',
  timeout: 'ErrorCode:ThrottlingBacklogTimeout;429003: the operation was held back too long.',
};
const throttled = (why: keyof typeof refusals) =>
  new Refusal('com.microsoft:device-container-throttled', refusals[why]);

/** A throttle for these limits; nothing is limited when there are none. `now` gives milliseconds since 1970. */
export function createThrottle(
  limits: Limits,
  now: () => number,
  { ms: longestMs = 0, backlog }: Shaping = {},
): Throttle {
  const windows = new Map<Operation, { began: number; used: number }>();
  const buckets = new Map<Operation, { left: number; at: number; held: number }>();
  const timers = new Set<NodeJS.Timeout>();

  const bucketOf = (operation: Operation, { count, perMs }: Limit) => {
    const at = now();
    const bucket = buckets.get(operation) ?? { left: count, at, held: 0 };
    bucket.left = Math.min(count, bucket.left + ((at - bucket.at) / perMs) * count);
    bucket.at = at;
    buckets.set(operation, bucket);
    return bucket;
  };

  const later = (ms: number, step: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      step();
    }, Math.ceil(ms)).unref();
    timers.add(timer);
  };

  return {
    take(operation, size = 1) {
      const limit = limits[operation];
      if (limit === undefined) return;
      const at = now();
      const known = windows.get(operation);
      const window = known && at - known.began < limit.perMs ? known : { began: at, used: 0 };
      if (window.used > 0 && window.used + size > limit.count) throw throttled('limit');
      window.used += size;
      windows.set(operation, window);
    },

    shape(operation, proceed) {
      const limit = limits[operation];
      if (limit === undefined) return proceed();
      const bucket = bucketOf(operation, limit);
      if (bucket.left >= 1) {
        bucket.left -= 1;
        return proceed();
      }
      if (longestMs === 0) return proceed(throttled('limit'));
      const most = backlog ?? Math.min(longestBacklog, Math.floor((longestMs / limit.perMs) * limit.count));
      if (bucket.held >= most) return proceed(throttled('backlog'));
      const ms = ((1 - bucket.left) * limit.perMs) / limit.count;
      const isTooLong = ms > longestMs;
      if (!isTooLong) bucket.left -= 1;
      bucket.held += 1;
      later(isTooLong ? longestMs : ms, () => {
        bucket.held -= 1;
        proceed(isTooLong ? throttled('timeout') : undefined);
      });
    },

    close() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
