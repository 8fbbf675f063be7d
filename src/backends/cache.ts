import { LRUCache } from 'lru-cache';
import type { Deadline } from './deadline.ts';

/** Who asks, and how long they can wait for somebody else's look-up of the same thing. */
interface Asker {
  readonly deviceId: string;
  readonly deadline: Deadline;
}

/** What a backend has answered to a device before (B3). */
export interface Cache<T> {
  /**
   * What is remembered, or what `load` brings. Devices that ask at the same time share one look-up; if that fails, each
   * does its own. `undefined` is never remembered.
   * @param ttlMs how long the answer holds; it may be Infinity
   */
  get(asker: Asker, key: string, ttlMs: number, load: () => Promise<T | undefined>): Promise<T | undefined>;
  /** Drops all that was answered to a device, also what is still on its way. */
  forget(deviceId: string): void;
}

interface Entry<T> {
  readonly value?: T;
  readonly expires: number;
  readonly pending?: Promise<T | undefined>;
}

/**
 * Answers are kept for each device apart: what a device may see depends on its tenant, which this service does not know.
 * So no device can learn, or be led astray by, an answer given to another. The devices that have been silent longest
 * make room; what a device has beyond the whole room is forgotten.
 */
export function createCache<T>(maxEntries: number): Cache<T> {
  const devices = new LRUCache<string, Map<string, Entry<T>>>({
    maxSize: maxEntries,
    sizeCalculation: ({ size }) => size,
  });

  /** The size counts as it is now. */
  function keep(deviceId: string, entries: Map<string, Entry<T>>) {
    devices.delete(deviceId);
    if (entries.size > 0) devices.set(deviceId, entries);
  }

  async function look(deviceId: string, key: string, ttlMs: number, load: () => Promise<T | undefined>) {
    const entries = devices.get(deviceId) ?? new Map<string, Entry<T>>();
    const pending = load();
    entries.set(key, { pending, expires: 0 });
    keep(deviceId, entries);
    let value: T | undefined;
    try {
      value = await pending;
    } finally {
      if (value !== undefined) entries.set(key, { value, expires: performance.now() + ttlMs });
      else entries.delete(key);
      // Forgotten in the meantime: this answer may be the outdated one.
      if (devices.peek(deviceId) === entries) keep(deviceId, entries);
    }
    return value;
  }

  return {
    async get({ deviceId, deadline }, key, ttlMs, load) {
      const known = devices.get(deviceId)?.get(key);
      if (known?.value !== undefined && known.expires > performance.now()) return known.value;
      if (known?.pending === undefined) return look(deviceId, key, ttlMs, load);
      const shared = known.pending.catch(() => undefined);
      const value = await deadline.race(shared, 'the same look-up by another message');
      return value ?? load();
    },
    forget: (deviceId) => devices.delete(deviceId),
  };
}
