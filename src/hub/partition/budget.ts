import { createRoom, type Room } from './capacity.ts';
import type { Pace } from './pace.ts';

/**
 * A fair semaphore over messages and bytes in flight: beyond its limits, messages that could begin wait in order of
 * arrival (G2). A message is charged from when it begins until only its replies are left to be sent (D27).
 */
export interface Budget {
  /**
   * Waits until there is room; undefined when there is room at once. One message always fits into an empty budget.
   * @param signal ends the waiting
   * @returns false, and nothing is charged, when `signal` was aborted first
   */
  take(bytes: number, signal?: AbortSignal): Promise<boolean> | undefined;
  /** Releases the part of a reservation that is not needed (R6). */
  shrink(bytes: number): void;
  give(bytes: number): void;
  inFlight(): { messages: number; bytes: number };
  /** For messages that wait in memory to begin. */
  readonly waiting: Room;
  /** For messages of which only replies are left to be sent. */
  readonly answering: Room;
}

export interface BudgetLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

/** The rooms `waiting` and `answering` each have this share of the bytes, and the same number of messages. */
const roomShare = 1 / 8;

/** A place in the line, for a message of so many bytes. */
interface Turn {
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (isAdmitted: boolean | Promise<boolean>) => void;
}

/**
 * @param overall is charged too, after this one
 * @param pace how many of the messages may be in flight at the moment; all of them when omitted
 */
export function createBudget({ maxMessages, maxBytes }: BudgetLimits, overall?: Budget, pace?: Pace): Budget {
  const roomLimits = { maxMessages, maxBytes: maxBytes * roomShare };
  let messages = 0;
  let bytes = 0;
  let queue: Turn[] = [];
  /** One listener for each signal: one for each message in the line would cost more than the rest of its turn. */
  const watched = new WeakSet<AbortSignal>();

  const mostNow = () => Math.min(maxMessages, pace?.messages() ?? maxMessages);
  const fits = (more: number) => messages === 0 || (messages < mostNow() && bytes + more <= maxBytes);

  function enter(more: number) {
    messages += 1;
    bytes += more;
  }

  function leave(less: number) {
    messages -= 1;
    bytes -= less;
    admitNext();
  }

  function admitNext() {
    for (let first = queue[0]; first !== undefined && fits(first.bytes); first = queue[0]) {
      queue.shift();
      admit(first);
    }
    if (queue.length > 0 && messages >= mostNow()) pace?.reached(admitNext);
  }

  const admit = ({ bytes, signal, resolve }: Turn) => resolve(enterBoth(bytes, signal) ?? true);

  /** Undefined when there is room at once in the overall budget as well. */
  function enterBoth(more: number, signal: AbortSignal | undefined): Promise<boolean> | undefined {
    enter(more);
    const taking = overall?.take(more, signal);
    return taking && alsoOverall(taking, more);
  }

  async function alsoOverall(taking: Promise<boolean>, more: number): Promise<boolean> {
    if (await taking) return true;
    leave(more);
    return false;
  }

  /** Returns false when `signal` was aborted before its turn. */
  function turn(bytes: Turn['bytes'], signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    if (signal !== undefined) watch(signal);
    return new Promise((resolve) => {
      queue.push({ bytes, signal, resolve });
      if (messages >= mostNow()) pace?.reached(admitNext);
    });
  }

  function watch(signal: AbortSignal) {
    if (watched.has(signal)) return;
    watched.add(signal);
    signal.addEventListener('abort', () => leaveQueue(signal), { once: true });
  }

  function leaveQueue(signal: AbortSignal) {
    const leaving = queue.filter((one) => one.signal === signal);
    queue = queue.filter((one) => one.signal !== signal);
    for (const { resolve } of leaving) resolve(false);
    admitNext();
  }

  return {
    take(more, signal) {
      return queue.length > 0 || !fits(more) ? turn(more, signal) : enterBoth(more, signal);
    },
    shrink(less) {
      bytes -= less;
      overall?.shrink(less);
      admitNext();
    },
    give(less) {
      overall?.give(less);
      leave(less);
    },
    inFlight: () => ({ messages, bytes }),
    waiting: createRoom(roomLimits, overall?.waiting),
    answering: createRoom(roomLimits, overall?.answering),
  };
}
