import { LRUCache } from 'lru-cache';
import type { Call } from './sending.ts';

interface CacheEntry<T> {
  readonly value?: T;
  readonly expires: number;
  readonly pending?: Promise<T | undefined>;
  readonly weight: number;
}

interface DeviceEntries<T> {
  readonly entries: Map<string, CacheEntry<T>>;
  weight: number;
}

function set<T>(own: DeviceEntries<T>, key: string, entry: CacheEntry<T> | undefined): void {
  own.weight += (entry?.weight ?? 0) - (own.entries.get(key)?.weight ?? 0);
  if (entry === undefined) own.entries.delete(key);
  else own.entries.set(key, entry);
}

export const cacheEntries = 32_000;
/** A usual entry has fewer. */
export const entryBytes = 1024;

const weightOf = (key: string, value: unknown): number => Math.ceil((memoryOf(key) + memoryOf(value)) / entryBytes);

/** About, in bytes. */
function memoryOf(value: unknown): number {
  if (typeof value === 'string') return 40 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 8;
  const parts = value instanceof Map || Array.isArray(value) ? [...value].flat() : Object.values(value);
  return parts.reduce<number>((bytes, part) => bytes + memoryOf(part), 40);
}

/** The device, and how long it can wait for a look-up that another message has started. */
type Asker = Pick<Call, 'deviceId' | 'deadline'>;
export type Cache<T> = ReturnType<typeof createCache<T>>;

/**
 * Earlier answers of a backend to each device (B3): what a device may see depends on its tenant, which this service does not know. The least
 * recently used devices are evicted; a device that alone exceeds `maxEntries` is not cached.
 * @param maxEntries a large answer counts as several
 */
export function createCache<T>(maxEntries: number, looked: (result: 'hit' | 'miss' | 'shared') => void = () => {}) {
  const devices = new LRUCache<string, DeviceEntries<T>>({ maxSize: maxEntries, sizeCalculation: (own) => own.weight });

  /** Sets the entries again, so that the LRU cache has their present weight. */
  function keep(deviceId: string, own: DeviceEntries<T>) {
    devices.delete(deviceId);
    if (own.entries.size > 0) devices.set(deviceId, own);
  }

  async function look(deviceId: string, key: string, ttlMs: number, load: () => Promise<T | undefined>) {
    const own = devices.get(deviceId) ?? { entries: new Map(), weight: 0 };
    const pending = load();
    set(own, key, { pending, expires: 0, weight: 1 });
    keep(deviceId, own);
    let value: T | undefined;
    try {
      value = await pending;
    } finally {
      if (value === undefined) set(own, key, undefined);
      else set(own, key, { value, expires: performance.now() + ttlMs, weight: weightOf(key, value) });
      // After `forget` these entries are no longer in the cache, and the value may be outdated.
      if (devices.peek(deviceId) === own) keep(deviceId, own);
    }
    return value;
  }

  return {
    /**
     * The cached value, or the result of `load`, but for `undefined`, for `ttlMs` ms. Messages of a device that ask at the same time share one
     * look-up; if it fails, each does its own.
     */
    async get({ deviceId, deadline }: Asker, key: string, ttlMs: number, load: () => Promise<T | undefined>) {
      const known = devices.get(deviceId)?.entries.get(key);
      const isKnown = known?.value !== undefined && known.expires > performance.now();
      looked(isKnown ? 'hit' : known?.pending === undefined ? 'miss' : 'shared');
      if (isKnown) return known.value;
      if (known?.pending === undefined) return look(deviceId, key, ttlMs, load);
      const shared = known.pending.catch(() => undefined);
      const value = await deadline.race(shared, 'the same look-up by another message');
      return value ?? load();
    },
    /** Drops all values of a device. Look-ups that are in progress are not cached. */
    forget: (deviceId: string): unknown => devices.delete(deviceId),
    /** Values and look-ups in progress. */
    entries: () => [...devices.values()].reduce((sum, { entries }) => sum + entries.size, 0),
  };
}
