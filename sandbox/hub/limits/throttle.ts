import { Refusal } from '../values/refusal.ts';

/** What a hub limits the rate of. */
export type Operation = 'connect' | 'd2c' | 'c2d' | 'method' | 'registry' | 'twinRead' | 'twinUpdate';

/** The rates of a hub, in operations a second; what is absent is not limited. */
export type Rates = { [K in Operation]?: number };

export type Tier = 'S1' | 'S2' | 'S3';

/** Counts operations against the rates of the hub. */
export interface Throttle {
  /**
   * Count `count` operations. Refuses with `com.microsoft:device-container-throttled` when the rate is used up. Idle
   * seconds are not saved: there is room for one second's operations, and for at least one.
   */
  take(operation: Operation, count?: number): void;
  /**
   * Count one operation as a hub that shapes does: over the rate it is held back until there is room, in the order in
   * which it came. `go` is called then, or at once; with the refusal when it would be held back too long, or when this hub
   * does not shape.
   */
  shape(operation: Operation, go: (refusal?: Refusal) => void): void;
  /** What is held back stays so. */
  close(): void;
}

/** How long a hub holds operations back before it refuses them, in milliseconds. Azure does not say; this is a guess. */
export const longestShapingMs = 60_000;

// Azure's page "IoT Hub quotas and throttling"; it counts cloud-to-device and registry operations by the minute. `connect`
// is new device connections; a hub holds newly opened links to it as well. Methods are limited in bytes, metered by 4 KB.
const ratesOf: Record<Tier, (units: number) => Required<Rates>> = {
  S1: (units) => ({
    connect: Math.max(100, 12 * units),
    d2c: Math.max(100, 12 * units),
    c2d: (100 / 60) * units,
    method: 40 * units,
    registry: (100 / 60) * units,
    twinRead: 100,
    twinUpdate: 50,
  }),
  S2: (units) => ({
    connect: 120 * units,
    d2c: 120 * units,
    c2d: (100 / 60) * units,
    method: 120 * units,
    registry: (100 / 60) * units,
    twinRead: Math.max(100, 10 * units),
    twinUpdate: Math.max(50, 5 * units),
  }),
  S3: (units) => ({
    connect: 6000 * units,
    d2c: 6000 * units,
    c2d: (5000 / 60) * units,
    method: 6144 * units,
    registry: (5000 / 60) * units,
    twinRead: 500 * units,
    twinUpdate: 250 * units,
  }),
};

/** The rates of a hub of this size. */
export function tierRates(tier: Tier, units = 1): Rates {
  return ratesOf[tier](units);
}

/**
 * A throttle for these rates; nothing is limited when there are none. `now` gives milliseconds since 1970. `shapingMs`: the
 * longest time for which what is shaped is held back.
 */
export function createThrottle(rates: Rates, now: () => number, shapingMs = 0): Throttle {
  const buckets = new Map<Operation, { left: number; at: number }>();
  const held = new Set<NodeJS.Timeout>();

  /** Counts if the room comes within the limit. The answer is when that is, in milliseconds from now. */
  function count(operation: Operation, rate: number, size: number, withinMs: number): number {
    const room = Math.max(rate, 1);
    const at = now();
    const { left: last, at: then } = buckets.get(operation) ?? { left: room, at };
    const left = Math.min(room, last + ((at - then) / 1000) * rate);
    const missing = Math.min(size, room) - left;
    const ms = missing <= 0 ? 0 : (missing / rate) * 1000;
    const isRefused = ms > withinMs;
    buckets.set(operation, { left: isRefused ? left : left - size, at });
    if (isRefused)
      throw new Refusal('com.microsoft:device-container-throttled', `The hub allows ${rate} such operations a second.`);
    return ms;
  }

  return {
    take(operation, size = 1) {
      const rate = rates[operation];
      if (rate !== undefined) count(operation, rate, size, 0);
    },
    shape(operation, go) {
      const rate = rates[operation];
      if (rate === undefined) return go();
      let ms: number;
      try {
        ms = count(operation, rate, 1, shapingMs);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return go(error);
      }
      if (ms === 0) return go();
      const timer = setTimeout(() => {
        held.delete(timer);
        go();
      }, Math.ceil(ms)).unref();
      held.add(timer);
    },
    close() {
      for (const timer of held) clearTimeout(timer);
    },
  };
}
