import { createRoom, type Room } from './capacity.ts';

/**
 * How much may be in work at once: beyond it, what could begin waits, first come, first served (G2). A message is charged
 * from when its work begins until only its replies are left to be sent; what merely waits is not in work (D27).
 */
export interface Budget {
  /**
   * Waits until there is room; undefined when there is room at once. One message always fits into an empty budget.
   * @param leaving ends the waiting
   * @returns false, and nothing is charged, when `leaving` came first
   */
  take(bytes: number, signal?: AbortSignal): Promise<boolean> | undefined;
  /** Gives back the part of a reservation that turned out not to be needed (R6). */
  shrink(bytes: number): void;
  give(bytes: number): void;
  /**
   * Waits in the same line until nothing is in work, here and in the overall budget; nothing else begins until the answer
   * is called.
   * @returns undefined when `leaving` came first
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

/** Of the bytes in work: as much may wait in memory, and as much again be answered, of as many messages as may be in work. */
const roomShare = 1 / 8;

interface Turn {
  fits(): boolean;
  enter(): void;
  call(): void;
}

/** @param overall is taken from as well, after this one */
export function createBudget({ maxMessages, maxBytes }: BudgetLimits, overall?: Budget): Budget {
  const roomLimits = { maxMessages, maxBytes: maxBytes * roomShare };
  let messages = 0;
  let bytes = 0;
  let isTakenAlone = false;
  const line: Turn[] = [];

  const isEmpty = () => messages === 0 && !isTakenAlone;
  const fits = (more: number) =>
    !isTakenAlone && (messages === 0 || (messages < maxMessages && bytes + more <= maxBytes));

  function enter(more: number) {
    messages += 1;
    bytes += more;
  }

  function leave(less: number) {
    messages -= 1;
    bytes -= less;
    callNext();
  }

  function callNext() {
    for (let first = line[0]; first?.fits(); first = line[0]) {
      line.shift();
      first.enter();
      first.call();
    }
  }

  /** Answers whether the turn has come, before `leaving` did. */
  function turn(one: Pick<Turn, 'fits' | 'enter'>, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const inLine = {
        ...one,
        call() {
          signal?.removeEventListener('abort', leaveLine);
          resolve(true);
        },
      };
      const leaveLine = () => {
        line.splice(line.indexOf(inLine), 1);
        resolve(false);
        callNext();
      };
      signal?.addEventListener('abort', leaveLine, { once: true });
      line.push(inLine);
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
      if (line.length > 0 || !fits(more)) return takeInTurn(more, signal);
      enter(more);
      const taking = overall?.take(more, signal);
      return taking && alsoOverall(taking, more);
    },
    shrink(less) {
      bytes -= less;
      overall?.shrink(less);
      callNext();
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
      if (line.length === 0 && isEmpty()) enterAlone();
      else if (!(await turn({ fits: isEmpty, enter: enterAlone }, signal))) return undefined;
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        isTakenAlone = false;
        callNext();
      };
    },
    inFlight: () => ({ messages, bytes }),
    waiting: createRoom(roomLimits, overall?.waiting),
    answering: createRoom(roomLimits, overall?.answering),
  };
}
