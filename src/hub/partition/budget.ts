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
  /**
   * Waits in the same queue until nothing is in flight, here and in the overall budget. Nothing else begins until the
   * returned function is called.
   * @returns undefined when `signal` was aborted first
   */
  alone(signal?: AbortSignal): Promise<(() => void) | undefined>;
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

interface Turn {
  fits(): boolean;
  enter(): void;
  admitted(): void;
}

/**
 * @param overall is charged too, after this one
 * @param pace how many of the messages may be in flight at the moment; all of them when omitted
 */
export function createBudget({ maxMessages, maxBytes }: BudgetLimits, overall?: Budget, pace?: Pace): Budget {
  const roomLimits = { maxMessages, maxBytes: maxBytes * roomShare };
  let messages = 0;
  let bytes = 0;
  let isTakenAlone = false;
  const queue: Turn[] = [];

  const mostNow = () => Math.min(maxMessages, pace?.messages() ?? maxMessages);
  const isEmpty = () => messages === 0 && !isTakenAlone;
  const fits = (more: number) =>
    !isTakenAlone && (messages === 0 || (messages < mostNow() && bytes + more <= maxBytes));

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
    for (let first = queue[0]; first?.fits(); first = queue[0]) {
      queue.shift();
      first.enter();
      first.admitted();
    }
    if (queue.length > 0 && messages >= mostNow()) pace?.reached(admitNext);
  }

  /** Returns false when `signal` was aborted before its turn. */
  function turn(one: Pick<Turn, 'fits' | 'enter'>, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const queued = {
        ...one,
        admitted() {
          signal?.removeEventListener('abort', leaveQueue);
          resolve(true);
        },
      };
      const leaveQueue = () => {
        queue.splice(queue.indexOf(queued), 1);
        resolve(false);
        admitNext();
      };
      signal?.addEventListener('abort', leaveQueue, { once: true });
      queue.push(queued);
      if (messages >= mostNow()) pace?.reached(admitNext);
    });
  }

  async function takeInTurn(more: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (!(await turn({ fits: () => fits(more), enter: () => enter(more) }, signal))) return false;
    return alsoOverall(overall?.take(more, signal), more);
  }

  async function alsoOverall(taking: Promise<boolean> | undefined, more: number): Promise<boolean> {
    if (taking === undefined || (await taking)) return true;
    leave(more);
    return false;
  }

  return {
    take(more, signal) {
      if (queue.length > 0 || !fits(more)) return takeInTurn(more, signal);
      enter(more);
      const taking = overall?.take(more, signal);
      return taking && alsoOverall(taking, more);
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
    async alone(signal) {
      if (overall) return overall.alone(signal);
      const enterAlone = () => {
        isTakenAlone = true;
      };
      if (queue.length === 0 && isEmpty()) enterAlone();
      else if (!(await turn({ fits: isEmpty, enter: enterAlone }, signal))) return undefined;
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        isTakenAlone = false;
        admitNext();
      };
    },
    inFlight: () => ({ messages, bytes }),
    waiting: createRoom(roomLimits, overall?.waiting),
    answering: createRoom(roomLimits, overall?.answering),
  };
}
