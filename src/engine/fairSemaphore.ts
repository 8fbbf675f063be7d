import type { Pace } from './adaptiveLimit.ts';

/** Where messages are charged: a fair semaphore over messages and bytes, with one line of those that wait. */
export interface Charge {
  /**
   * Waits until there is room; undefined when there is room at once. One message always fits while no other is in flight.
   * @param signal ends the waiting
   * @returns false, and nothing is charged, when `signal` was aborted first
   */
  take(bytes: number, signal?: AbortSignal): Promise<boolean> | undefined;
  /** Whether a message of this size would be taken at once. */
  hasRoom(bytes: number): boolean;
  /** Releases the part of a reservation that is not needed (R6). */
  shrink(bytes: number): void;
  give(bytes: number): void;
}

/** A charge that tells what is taken. */
export interface Line extends Charge {
  inFlight(): { messages: number; bytes: number };
}

export interface LineLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

/** A place in the line, for a message of this size. */
interface WaitingCharge {
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (isAdmitted: boolean | Promise<boolean>) => void;
}

/**
 * @param overall is charged too, after this one
 * @param pace how many of the messages may be in flight at the moment; all of them when omitted
 */
export function createLine({ maxMessages, maxBytes }: LineLimits, overall?: Charge, pace?: Pace): Line {
  let messages = 0;
  let bytes = 0;
  let queue: WaitingCharge[] = [];
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

  const admit = ({ bytes, signal, resolve }: WaitingCharge) => resolve(enterBoth(bytes, signal) ?? true);

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
  function turn(bytes: WaitingCharge['bytes'], signal: AbortSignal | undefined): Promise<boolean> {
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
    hasRoom: (more) => queue.length === 0 && fits(more) && overall?.hasRoom(more) !== false,
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
  };
}
