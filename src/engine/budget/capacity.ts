/** Bounds messages and bytes. Callers do not wait for room: without room they store the message elsewhere. */
export interface Capacity {
  /** Returns whether there was room. One message always fits into an empty room. */
  take(bytes: number): boolean;
  give(bytes: number, messages?: number): void;
  /** Frees everything. */
  clear(): void;
  taken(): { messages: number; bytes: number };
}

export interface CapacityLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

/** @param whole is charged too */
export function createCapacity({ maxMessages, maxBytes }: CapacityLimits, whole?: Capacity): Capacity {
  let messages = 0;
  let bytes = 0;

  function give(less: number, fewer = 1) {
    messages -= fewer;
    bytes -= less;
    whole?.give(less, fewer);
  }

  return {
    take(more) {
      const fits = messages === 0 || (messages < maxMessages && bytes + more <= maxBytes);
      if (!fits || whole?.take(more) === false) return false;
      messages += 1;
      bytes += more;
      return true;
    },
    give,
    clear: () => give(bytes, messages),
    taken: () => ({ messages, bytes }),
  };
}
