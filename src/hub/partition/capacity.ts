/** A bounded number of messages and bytes, for what need not wait when there is no room: it goes elsewhere. */
export interface Room {
  /** Answers whether there was room. One message always fits into an empty room. */
  take(bytes: number): boolean;
  give(bytes: number, messages?: number): void;
  /** Gives back all that was taken. */
  clear(): void;
  taken(): { messages: number; bytes: number };
}

export interface RoomLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

/** @param whole room is taken there as well */
export function createRoom({ maxMessages, maxBytes }: RoomLimits, whole?: Room): Room {
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
