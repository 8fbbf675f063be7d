import { LRUCache } from 'lru-cache';
import type { Deadline } from './deadline.ts';

/** The device, and how long it can wait for a look-up that another message has started. */
interface CacheUser {
  readonly deviceId: string;
  readonly deadline: Deadline;
}

/** Earlier answers of a backend to each device (B3). */
export interface Cache<T> {
  /**
   * The cached value, or the result of `load`. Messages of a device that ask at the same time share one look-up; if it
   * fails, each does its own. `undefined` is not cached.
   * @param ttlMs lifetime of the value; it may be Infinity
   */
  get(asker: CacheUser, key: string, ttlMs: number, load: () => Promise<T | undefined>): Promise<T | undefined>;
  /** Drops all values of a device. Look-ups that are in progress are not cached. */
  forget(deviceId: string): void;
  /** Values and look-ups in progress. */
  entries(): number;
}

type LookUp = 'hit' | 'miss' | 'shared';

interface CacheEntry<T> {
  readonly value?: T;
  readonly expires: number;
  readonly pending?: Promise<T | undefined>;
}

/**
 * Each device has its own values: what a device may see depends on its tenant, which this service does not know. The
 * least recently used devices are evicted; a device that alone exceeds `maxEntries` is not cached.
 * @param looked called for each `get`
 */
export function createCache<T>(maxEntries: number, looked: (result: LookUp) => void = () => {}): Cache<T> {
  const devices = new LRUCache<string, Map<string, CacheEntry<T>>>({
    maxSize: maxEntries,
    sizeCalculation: ({ size }) => size,
  });

  /** Sets the entries again, so that the LRU cache counts their present number. */
  function keep(deviceId: string, entries: Map<string, CacheEntry<T>>) {
    devices.delete(deviceId);
    if (entries.size > 0) devices.set(deviceId, entries);
  }

  async function look(deviceId: string, key: string, ttlMs: number, load: () => Promise<T | undefined>) {
    const entries = devices.get(deviceId) ?? new Map<string, CacheEntry<T>>();
    const pending = load();
    entries.set(key, { pending, expires: 0 });
    keep(deviceId, entries);
    let value: T | undefined;
    try {
      value = await pending;
    } finally {
      if (value !== undefined) entries.set(key, { value, expires: performance.now() + ttlMs });
      else entries.delete(key);
      // After `forget` these entries are no longer in the cache, and the value may be outdated.
      if (devices.peek(deviceId) === entries) keep(deviceId, entries);
    }
    return value;
  }

  return {
    async get({ deviceId, deadline }, key, ttlMs, load) {
      const known = devices.get(deviceId)?.get(key);
      const isKnown = known?.value !== undefined && known.expires > performance.now();
      looked(isKnown ? 'hit' : known?.pending === undefined ? 'miss' : 'shared');
      if (isKnown) return known.value;
      if (known?.pending === undefined) return look(deviceId, key, ttlMs, load);
      const shared = known.pending.catch(() => undefined);
      const value = await deadline.race(shared, 'the same look-up by another message');
      return value ?? load();
    },
    forget: (deviceId) => devices.delete(deviceId),
    entries: () => devices.calculatedSize,
  };
}
