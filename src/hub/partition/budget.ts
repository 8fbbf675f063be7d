/** How much may be in work at once: beyond it, intake waits and the rest stays in the hub (G2). */
export interface Budget {
  /** Waits until there is room; undefined when there is room at once. One message always fits into an empty budget. */
  take(bytes: number): Promise<void> | undefined;
  /** Charges a message that turned out to be larger; never waits, but holds up those who come next (R6). */
  grow(bytes: number): void;
  give(bytes: number): void;
  inFlight(): { messages: number; bytes: number };
}

export interface BudgetLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

/** @param overall is taken from as well, after this one */
export function createBudget({ maxMessages, maxBytes }: BudgetLimits, overall?: Budget): Budget {
  let messages = 0;
  let bytes = 0;
  const waiting: { bytes: number; admit: () => void }[] = [];

  const hasRoom = (more: number) => messages === 0 || (messages < maxMessages && bytes + more <= maxBytes);

  function enter(more: number) {
    messages += 1;
    bytes += more;
  }

  function admitWaiting() {
    for (let first = waiting[0]; first !== undefined && hasRoom(first.bytes); first = waiting[0]) {
      waiting.shift();
      enter(first.bytes);
      first.admit();
    }
  }

  return {
    take(more) {
      if (waiting.length === 0 && hasRoom(more)) {
        enter(more);
        return overall?.take(more);
      }
      const turn = new Promise<void>((admit) => waiting.push({ bytes: more, admit }));
      return overall ? turn.then(() => overall.take(more)) : turn;
    },
    grow(more) {
      bytes += more;
      overall?.grow(more);
    },
    give(less) {
      messages -= 1;
      bytes -= less;
      overall?.give(less);
      admitWaiting();
    },
    inFlight: () => ({ messages, bytes }),
  };
}
