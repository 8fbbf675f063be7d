import type { SendRefusal } from './sendFailure.ts';

/**
 * Limits how fast replies are sent to the hub (C4). The hub does not report the limit of its tier: it settles late,
 * then refuses (facts c2d.rate, c2d.quick). At the first sign of either the rate is cut to what the hub has recently accepted; then it grows until the next sign.
 */
export interface RateLimit {
  /** How long the next send has to wait; infinite when it has to wait for an answer. */
  waitMs(inFlight: number): number;
  began(): void;
  /** Sends a second: undefined while no limit is known, 0 while the hub refuses every reply. */
  perSecond(): number | undefined;
  /** @param refusal undefined when the hub accepted the send */
  settled(sentAt: number, refusal: SendRefusal | undefined): void;
}

interface RateLimitOptions {
  /** Most sends a second, as an operator has set it; infinite when not set. */
  readonly ceiling: number;
  /** How long the hub may take to settle one send. */
  readonly answerWithinMs: number;
  /** A clock that can't be set, in milliseconds (D180). */
  readonly now: () => number;
}

/** Sends a second after a cut, at least: few recent sends do not prove a low limit. */
const least = 0.5;
/** A cut reduces the rate to this share of what the hub has recently accepted. */
const share = 0.7;
/** Slow at first, up to about the rate before the cut; after ten seconds it doubles every ten seconds. */
const growth = (seconds: number): number => (1 + 0.03 * seconds) * 2 ** Math.min(100, Math.max(0, seconds / 10 - 1));
/** "Recently" is the best of this number of seconds: a short pause of the hub is no sign of a limit. */
const recentSeconds = 10;
/** Sends may begin early by this time, to make up for late timers. */
const slackMs = 100;
/** Interval of attempts while the hub refuses every reply. */
const probeEveryMs = 60_000;

export function createRateLimit({ ceiling, answerWithinMs, now }: RateLimitOptions): RateLimit {
  /** An answer after this time is a sign that the hub throttles. */
  const slowMs = answerWithinMs / 2;
  /** With a known rate, at most the sends of this time are in flight: sends that wait here keep their turns. */
  const horizonSeconds = answerWithinMs / 5_000;
  let learned: { readonly rate: number; readonly cutAt: number; readonly lastSignAt: number } | undefined;
  let nextAt = Number.NEGATIVE_INFINITY;
  /** The hub refuses every reply; the next attempt is at this time. */
  let closedUntil: number | undefined;
  const history = new Array<{ second: number; accepted: number }>(recentSeconds).fill({ second: 0, accepted: 0 });

  function rate(): number {
    if (learned === undefined) return ceiling;
    return Math.min(ceiling, learned.rate * growth((now() - learned.lastSignAt) / 1000));
  }

  const secondNow = () => Math.floor(now() / 1000);

  function countTaken() {
    const second = secondNow();
    const slot = second % recentSeconds;
    const known = history[slot];
    history[slot] = { second, accepted: known?.second === second ? known.accepted + 1 : 1 };
  }

  function lately(): number {
    const oldest = secondNow() - recentSeconds;
    return Math.max(...history.map(({ second, accepted }) => (second > oldest ? accepted : 0)));
  }

  return {
    waitMs(inFlight) {
      if (closedUntil !== undefined) return inFlight > 0 ? Number.POSITIVE_INFINITY : Math.max(0, closedUntil - now());
      const perSecond = rate();
      if (inFlight >= Math.max(1, perSecond * horizonSeconds)) return Number.POSITIVE_INFINITY;
      return Math.max(0, nextAt - slackMs - now());
    },
    perSecond() {
      if (closedUntil !== undefined) return 0;
      return Number.isFinite(rate()) ? rate() : undefined;
    },
    began() {
      nextAt = Math.max(nextAt, now()) + 1000 / rate();
    },
    settled(sentAt, refusal) {
      if (refusal?.kind === 'hub') {
        closedUntil = now() + probeEveryMs;
        return;
      }
      // That the queue of one device is full says that the hub keeps up: else many of these cut the rate of all others (C4).
      if (refusal === undefined || refusal.reason === 'queue_full') countTaken();
      if (refusal?.kind !== 'connection') closedUntil = undefined;
      const isSlow = refusal?.reason === 'throttled' || (refusal === undefined && now() - sentAt > slowMs);
      if (!isSlow) return;
      const lastSignAt = now();
      // A send that began before the last cut is no sign about the rate since, but delays its growth.
      if (learned !== undefined && sentAt <= learned.cutAt) learned = { ...learned, lastSignAt };
      else learned = { rate: Math.max(least, share * Math.min(rate(), lately())), cutAt: lastSignAt, lastSignAt };
    },
  };
}
