/** A queue that serves devices in turn, and the entries of each device in order. */
export interface FairQueue<T> {
  /** @param isFirst whether it goes before those of other devices in the same round */
  add(deviceId: string, one: T, isFirst: boolean): void;
  remove(deviceId: string, one: T): void;
  next(): T | undefined;
  size(): number;
}

interface QueuedEntry<T> {
  readonly one: T;
  readonly isFirst: boolean;
}

/**
 * Works in rounds: each device that waits has one turn in a round, and those whose next entry has `isFirst` have theirs
 * before the others (C4).
 */
export function createFairQueue<T>(): FairQueue<T> {
  const waiting = new Map<string, QueuedEntry<T>[]>();
  /** Devices that still have a turn in this round, in order of arrival. */
  const first = new Set<string>();
  const others = new Set<string>();
  const served = new Set<string>();
  let size = 0;

  function enterRound(deviceId: string) {
    if (served.has(deviceId)) return;
    first.delete(deviceId);
    others.delete(deviceId);
    const head = waiting.get(deviceId)?.[0];
    if (head) (head.isFirst ? first : others).add(deviceId);
  }

  function taken(deviceId: string, own: QueuedEntry<T>[]) {
    size -= 1;
    if (own.length === 0) waiting.delete(deviceId);
    if (size === 0) served.clear();
  }

  function nextDevice(): string | undefined {
    const [deviceId] = first.size > 0 ? first : others;
    return deviceId;
  }

  return {
    add(deviceId, one, isFirst) {
      const own = waiting.get(deviceId) ?? [];
      own.push({ one, isFirst });
      size += 1;
      if (own.length > 1) return;
      waiting.set(deviceId, own);
      enterRound(deviceId);
    },
    remove(deviceId, one) {
      const own = waiting.get(deviceId) ?? [];
      const at = own.findIndex((each) => each.one === one);
      if (at < 0) return;
      own.splice(at, 1);
      taken(deviceId, own);
      if (at === 0) enterRound(deviceId);
    },
    next() {
      if (nextDevice() === undefined) {
        served.clear();
        for (const deviceId of waiting.keys()) enterRound(deviceId);
      }
      const deviceId = nextDevice();
      const own = deviceId === undefined ? undefined : waiting.get(deviceId);
      if (deviceId === undefined || own === undefined) return undefined;
      const head = own.shift();
      first.delete(deviceId);
      others.delete(deviceId);
      served.add(deviceId);
      taken(deviceId, own);
      return head?.one;
    },
    size: () => size,
  };
}
