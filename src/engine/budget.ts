import { performance } from 'node:perf_hooks';
import { type Amount, type Capacity, createCapacity, createSleeping, type Limits, type Sleeping } from './rooms.ts';

export type Line = ReturnType<typeof createLine>;

/** A fair semaphore over messages and bytes, with one line of those that wait. */
export function createLine({ maxMessages, maxBytes }: Limits, adaptiveLimit?: AdaptiveLimit) {
  let messages = 0;
  let bytes = 0;
  let queue: { bytes: number; signal: AbortSignal | undefined; resolve(isAdmitted: boolean): void }[] = [];
  /** One listener for each signal: one for each message in the line would cost more than the rest of its turn. */
  const watched = new WeakSet<AbortSignal>();

  const mostNow = () => Math.min(maxMessages, adaptiveLimit?.messages() ?? maxMessages);
  const fits = (more: number) => messages === 0 || (messages < mostNow() && bytes + more <= maxBytes);

  function enter(more: number) {
    messages += 1;
    bytes += more;
  }

  function admitNext() {
    for (let first = queue[0]; first !== undefined && fits(first.bytes); first = queue[0]) {
      queue.shift();
      enter(first.bytes);
      first.resolve(true);
    }
    if (queue.length > 0) askPace();
  }

  function askPace() {
    if (messages >= mostNow()) adaptiveLimit?.reached(admitNext);
  }

  function turn(bytes: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    if (signal !== undefined && !watched.has(signal)) {
      watched.add(signal);
      signal.addEventListener('abort', () => leaveQueue(signal), { once: true });
    }
    return new Promise((resolve) => {
      queue.push({ bytes, signal, resolve });
      askPace();
    });
  }

  function leaveQueue(signal: AbortSignal) {
    const leaving = queue.filter((one) => one.signal === signal);
    queue = queue.filter((one) => one.signal !== signal);
    for (const { resolve } of leaving) resolve(false);
    admitNext();
  }

  return {
    /**
     * Waits until there is room; undefined when there is room at once. One message always fits while no other is in flight.
     * @param signal ends the waiting
     * @returns false, and nothing is charged, when `signal` was aborted first
     */
    take(more: number, signal?: AbortSignal): Promise<boolean> | undefined {
      if (queue.length > 0 || !fits(more)) return turn(more, signal);
      enter(more);
      return undefined;
    },
    /** Whether a message of this size would be taken at once. */
    hasRoom: (more: number): boolean => queue.length === 0 && fits(more),
    /** Releases the part of a reservation that is not needed (R6). */
    shrink(less: number) {
      bytes -= less;
      admitNext();
    },
    give(less: number) {
      messages -= 1;
      bytes -= less;
      admitNext();
    },
    inFlight: (): Amount => ({ messages, bytes }),
  };
}

/** Charges one line after the other. */
function inTurn(first: Line, second: Line | undefined): Line {
  if (second === undefined) return first;

  function takeSecond(line: Line, bytes: number, signal: AbortSignal | undefined): Promise<boolean> | undefined {
    return line.take(bytes, signal)?.then((isTaken) => {
      if (!isTaken) first.give(bytes);
      return isTaken;
    });
  }

  return {
    take(bytes, signal) {
      const taking = first.take(bytes, signal);
      if (taking === undefined) return takeSecond(second, bytes, signal);
      return taking.then((isTaken) => isTaken && (takeSecond(second, bytes, signal) ?? true));
    },
    hasRoom: (bytes) => first.hasRoom(bytes) && second.hasRoom(bytes),
    shrink(bytes) {
      first.shrink(bytes);
      second.shrink(bytes);
    },
    give(bytes) {
      second.give(bytes);
      first.give(bytes);
    },
    inFlight: first.inFlight,
  };
}

/**
 * Bounds messages and bytes in flight: beyond the limits, messages that could begin wait in order of arrival (G2). A message
 * is charged from when it begins until only its replies are left to be sent (D27).
 *
 * A compressed message of a few hundred bytes reserves megabytes, and holds them as long as a backend takes. So a part of the
 * bytes is for small messages alone, and large ones have a line of their own before the line of all, where nothing passes them
 * (D192).
 */
export interface Budget {
  /** The line that a message with a reservation of this size is charged to. */
  of(bytes: number): Line;
  inFlight(): Amount;
  /** The line of all messages, and before it that of large ones. */
  readonly all: Line;
  readonly large: Line;
  /** For messages of which only replies are left to be sent. */
  readonly answering: Capacity;
  /** For those of them that wait for the full queues of their devices: one room for the process (C4). */
  readonly sleeping: Sleeping;
  /** For answers of backends that messages keep until the hub has taken their replies: as many bytes again, of the process (A10). */
  readonly answers: Line;
}

/** A small message reserves as many bytes at most: some KB of plain JSON. */
const smallBytes = 16 * 1024;

/** The part of the bytes that large messages may take together. */
const largePart = 3 / 4;

/** The room `answering` has this part of the bytes, and the same number of messages. */
const answeringPart = 1 / 8;

export const isLarge = (bytes: number): boolean => bytes > smallBytes;

/**
 * @param overall is charged too, after this one
 * @param adaptiveLimit how many of the messages may be in flight at the moment; all of them when omitted
 */
export function createBudget(
  { maxMessages, maxBytes, sleepingBytes = Number.POSITIVE_INFINITY }: Limits & { readonly sleepingBytes?: number },
  overall?: Budget,
  adaptiveLimit?: AdaptiveLimit,
): Budget {
  const all = inTurn(createLine({ maxMessages, maxBytes }, adaptiveLimit), overall?.all);
  const large = inTurn(createLine({ maxMessages, maxBytes: maxBytes * largePart }), overall?.large);
  const both = inTurn(large, all);
  return {
    of: (bytes) => (isLarge(bytes) ? both : all),
    inFlight: all.inFlight,
    all,
    large,
    answering: createCapacity({ maxMessages, maxBytes: maxBytes * answeringPart }, overall?.answering),
    sleeping: overall?.sleeping ?? createSleeping(sleepingBytes),
    answers: overall?.answers ?? createLine({ maxMessages: Number.POSITIVE_INFINITY, maxBytes }),
  };
}

interface AdaptiveLimitOptions {
  readonly least: number;
  readonly most: number;
  /** How many messages in flight wait for others in flight to end: further ones would only join them. */
  inLine(): number;
  /** Starts a measurement; the returned function says which share of the time since then the event loop was busy. */
  measure?(): () => number;
}

const windowMs = 100;

/** Below the first share of the time there are more messages, above the second fewer. */
const shares = { spare: 0.95, busy: 0.98 };
const factors = { more: 1.5, fewer: 0.9 };
/** Beyond this share in line there are no more messages. */
const lineShare = 0.5;

function measureLoop(): () => number {
  const before = performance.eventLoopUtilization();
  return () => performance.eventLoopUtilization(before).utilization;
}

export type AdaptiveLimit = ReturnType<typeof createAdaptiveLimit>;

/**
 * How many messages may be in flight at the moment: few while they keep the event loop busy, because more would only grow
 * old in memory; up to the limit while it has time to spare, because then they wait for backends and the hub (D163).
 */
export function createAdaptiveLimit({ least, most, inLine, measure = measureLoop }: AdaptiveLimitOptions) {
  let messages = Math.min(least, most);
  let isMeasuring = false;

  function adjust(busy: number) {
    const isInLine = inLine() > messages * lineShare;
    if (busy < shares.spare && !isInLine) messages = Math.min(most, Math.ceil(messages * factors.more));
    else if (busy > shares.busy) messages = Math.max(Math.min(least, most), Math.floor(messages * factors.fewer));
  }

  return {
    messages: () => messages,
    /** A message waits because the limit is reached. @param changed called a little later, once, when the number may have changed */
    reached(changed: () => void) {
      if (isMeasuring) return;
      isMeasuring = true;
      const busy = measure();
      setTimeout(() => {
        isMeasuring = false;
        adjust(busy());
        changed();
      }, windowMs).unref();
    },
  };
}
