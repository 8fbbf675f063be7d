import type { Pace } from './adaptiveLimit.ts';
import { type Capacity, createCapacity } from './capacity.ts';
import { type Charge, createLine, type Line, type LineLimits } from './fairSemaphore.ts';
import { createSleeping, type Sleeping } from './sleeping.ts';

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
  of(bytes: number): Charge;
  inFlight(): ReturnType<Line['inFlight']>;
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

interface BudgetLimits extends LineLimits {
  /** Of the room `sleeping`; infinite when omitted. */
  readonly sleepingBytes?: number;
}

/** A small message reserves as many bytes at most: some KB of plain JSON. */
const smallBytes = 16 * 1024;

/** The share of the bytes that large messages may take together. */
const largeShare = 3 / 4;

/** The room `answering` has this share of the bytes, and the same number of messages. */
const answeringShare = 1 / 8;

export const isLarge = (bytes: number): boolean => bytes > smallBytes;

/**
 * @param overall is charged too, after this one
 * @param pace how many of the messages may be in flight at the moment; all of them when omitted
 */
export function createBudget(limits: BudgetLimits, overall?: Budget, pace?: Pace): Budget {
  const { maxMessages, maxBytes, sleepingBytes = Number.POSITIVE_INFINITY } = limits;
  const all = createLine({ maxMessages, maxBytes }, overall?.all, pace);
  const large = createLine({ maxMessages, maxBytes: maxBytes * largeShare }, overall?.large);
  const both = inBoth(large, all);
  return {
    of: (bytes) => (isLarge(bytes) ? both : all),
    inFlight: all.inFlight,
    all,
    large,
    answering: createCapacity({ maxMessages, maxBytes: maxBytes * answeringShare }, overall?.answering),
    sleeping: overall?.sleeping ?? createSleeping(sleepingBytes),
    answers: overall?.answers ?? createLine({ maxMessages: Number.POSITIVE_INFINITY, maxBytes }),
  };
}

/** Charges one after the other. */
function inBoth(first: Charge, second: Charge): Charge {
  function takeSecond(bytes: number, signal: AbortSignal | undefined): Promise<boolean> | undefined {
    return second.take(bytes, signal)?.then((isTaken) => {
      if (!isTaken) first.give(bytes);
      return isTaken;
    });
  }

  return {
    hasRoom: (bytes) => first.hasRoom(bytes) && second.hasRoom(bytes),
    take(bytes, signal) {
      const taking = first.take(bytes, signal);
      if (taking === undefined) return takeSecond(bytes, signal);
      return taking.then((isTaken) => isTaken && (takeSecond(bytes, signal) ?? true));
    },
    shrink(bytes) {
      first.shrink(bytes);
      second.shrink(bytes);
    },
    give(bytes) {
      second.give(bytes);
      first.give(bytes);
    },
  };
}
