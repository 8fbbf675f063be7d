import { performance } from 'node:perf_hooks';
import { type Amount, createLine, createSleeping, inTurn, type Limits, type Line, type Sleeping } from './rooms.ts';

/**
 * Beyond the limits, messages that could begin wait in order of arrival (G2). A message is charged from when it begins until only its
 * replies are left to be sent (D27). A compressed one may reserve megabytes for as long as a backend takes: so a part of the bytes is for
 * small messages, and large ones have a line of their own before the line of all, where nothing passes them (D192).
 */
export interface Budget {
  of(bytes: number): Line;
  inFlight(): Amount;
  /** The line of all messages, and before it that of large ones. */
  readonly all: Line;
  readonly large: Line;
  readonly answering: Line;
  /** For those of them that wait for the full queues of their devices: one room for the process (C4). */
  readonly sleeping: Sleeping;
  /** For answers of backends that messages keep until the hub has taken their replies: as many bytes again, of the process (A10). */
  readonly answers: Line;
}

/** A small message reserves as many bytes at most: some KB of plain JSON. */
const smallBytes = 16 * 1024;
const largePart = 3 / 4;
/** The room `answering` has this part of the bytes, and the same number of messages. */
const answeringPart = 1 / 8;

export const isLarge = (bytes: number): boolean => bytes > smallBytes;

/** @param overall is charged too, after this one. @param adaptiveLimit all messages may be in flight when omitted */
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
    answering: inTurn(createLine({ maxMessages, maxBytes: maxBytes * answeringPart }), overall?.answering),
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

/** How many messages may be in flight: few while they keep the event loop busy, up to the limit while they wait for backends and the hub (D163). */
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
