/** Bounds messages and bytes. Callers do not wait for room here. */
export interface Capacity {
  /** Whether one more message fits. One always fits into an empty room. */
  hasRoom(bytes: number): boolean;
  /** Returns whether there was room. */
  take(bytes: number): boolean;
  /** Takes room even if there is none. */
  add(amount: Amount): void;
  give(bytes: number, messages?: number): void;
  /** Frees everything. */
  clear(): void;
  taken(): Amount;
}

export interface Amount {
  readonly messages: number;
  readonly bytes: number;
}

export interface CapacityLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

/** @param whole is charged too */
export function createCapacity({ maxMessages, maxBytes }: CapacityLimits, whole?: Capacity): Capacity {
  let messages = 0;
  let bytes = 0;

  const hasRoom = (more: number): boolean =>
    (messages === 0 || (messages < maxMessages && bytes + more <= maxBytes)) && whole?.hasRoom(more) !== false;

  function add(more: Amount) {
    messages += more.messages;
    bytes += more.bytes;
    whole?.add(more);
  }

  function give(less: number, fewer = 1) {
    messages -= fewer;
    bytes -= less;
    whole?.give(less, fewer);
  }

  return {
    hasRoom,
    take(more) {
      if (!hasRoom(more)) return false;
      add({ messages: 1, bytes: more });
      return true;
    },
    add,
    give,
    clear: () => give(bytes, messages),
    taken: () => ({ messages, bytes }),
  };
}
