import type { Refusal } from './sendFailure.ts';

/**
 * How fast the hub is sent to (C4). It never says what its tier allows: it settles later and later, then refuses. So the
 * pace is cut to what was taken of late whenever that is seen, and grows from there until it is seen again.
 */
export interface RateLimit {
  /** How long the next send has to wait; infinite when it waits for an answer, not for time. */
  waitMs(inFlight: number): number;
  began(): void;
  /** What became of a send. */
  settled(beganAt: number, refusal: Refusal | undefined): void;
}

interface RateLimitOptions {
  /** Most sends a second, as an operator has set it; infinite when nothing is known. */
  readonly ceiling: number;
  /** How long the hub may take to settle one send. */
  readonly answerWithinMs: number;
  readonly now: () => number;
}

/** Sends a second: what a cut leaves when next to nothing was taken of late, which need not be the hub's doing. */
const least = 0.5;
/** What a cut leaves of what was taken of late. */
const share = 0.7;
/** Slowly to where the last sign was seen, then as fast as nobody has seen one: twice as much every ten seconds. */
const growth = (seconds: number): number => (1 + 0.03 * seconds) * 2 ** Math.min(100, Math.max(0, seconds / 10 - 1));
/** Of late: in so many seconds. The best of them counts, for a hub that stood still for a moment shows no limit by that. */
const lateSeconds = 10;
/** A timer that fires late is made up for, so far. */
const slackMs = 100;
/** While the hub refuses everything, it is asked so often whether it still does. */
const probeEveryMs = 60_000;

export function createRateLimit({ ceiling, answerWithinMs, now }: RateLimitOptions): RateLimit {
  /** An answer after this time says that the hub holds sends back. */
  const slowMs = answerWithinMs / 2;
  /** With a known rate, no more is left to the hub than it takes in this time: who waits here keeps their turn. */
  const horizonSeconds = answerWithinMs / 5_000;
  let learned: { readonly rate: number; readonly cutAt: number; readonly lastSignAt: number } | undefined;
  let nextAt = 0;
  /** The hub takes nothing of anybody until then, or longer. */
  let closedUntil: number | undefined;
  const takenIn = new Array<{ second: number; taken: number }>(lateSeconds).fill({ second: 0, taken: 0 });

  function rate(): number {
    if (learned === undefined) return ceiling;
    return Math.min(ceiling, learned.rate * growth((now() - learned.lastSignAt) / 1000));
  }

  const secondNow = () => Math.floor(now() / 1000);

  function countTaken() {
    const second = secondNow();
    const slot = second % lateSeconds;
    const known = takenIn[slot];
    takenIn[slot] = { second, taken: known?.second === second ? known.taken + 1 : 1 };
  }

  /** Sends a second, in the best second. */
  function takenOfLate(): number {
    const oldest = secondNow() - lateSeconds;
    return Math.max(...takenIn.map(({ second, taken }) => (second > oldest ? taken : 0)));
  }

  return {
    waitMs(inFlight) {
      if (closedUntil !== undefined) return inFlight > 0 ? Number.POSITIVE_INFINITY : Math.max(0, closedUntil - now());
      const perSecond = rate();
      if (inFlight >= Math.max(1, perSecond * horizonSeconds)) return Number.POSITIVE_INFINITY;
      return Math.max(0, nextAt - slackMs - now());
    },
    began() {
      nextAt = Math.max(nextAt, now()) + 1000 / rate();
    },
    settled(beganAt, refusal) {
      if (refusal?.kind === 'hub') {
        closedUntil = now() + probeEveryMs;
        return;
      }
      if (refusal === undefined) countTaken();
      if (refusal?.kind !== 'connection') closedUntil = undefined;
      const isSlow = refusal?.reason === 'throttled' || (refusal === undefined && now() - beganAt > slowMs);
      if (!isSlow) return;
      const lastSignAt = now();
      // What was under way at the last cut says nothing of the pace since, but that it is too early for more.
      if (learned !== undefined && beganAt <= learned.cutAt) learned = { ...learned, lastSignAt };
      else learned = { rate: Math.max(least, share * Math.min(rate(), takenOfLate())), cutAt: lastSignAt, lastSignAt };
    },
  };
}
