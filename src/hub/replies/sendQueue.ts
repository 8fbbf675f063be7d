import type { SendRefusal } from './sendFailure.ts';

export type Rank = 'failure' | 'usual' | 'full';

/** For operators. */
export interface SendQueueState {
  /** Sends that wait for their turn. */
  readonly waiting: number;
  /** Sends that the hub has not settled. */
  readonly inFlight: number;
  /** See createRateLimit. */
  readonly ratePerSecond: number | undefined;
}

interface SendQueueOptions {
  readonly rateLimit: RateLimit;
  /** Most sends that wait for the hub's answer at once. */
  readonly maxInFlight: number;
}

/** One of so many turns is for full queues while other sends wait. */
const fullShare = 16;

export type SendQueue = ReturnType<typeof createSendQueue>;

/** Lets sends begin in fair order, at the rate of the limit. */
export function createSendQueue({ rateLimit, maxInFlight }: SendQueueOptions) {
  const usual = createFairQueue<(isTurn: boolean) => void>();
  const full = createFairQueue<(isTurn: boolean) => void>();
  /** Turns since the last one for a full queue. */
  let since = 0;
  let inFlight = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const waitMs = () => (inFlight >= maxInFlight ? Number.POSITIVE_INFINITY : rateLimit.waitMs(inFlight));
  const waiting = () => usual.size() + full.size();

  function next() {
    const isForFull = usual.size() === 0 || (full.size() > 0 && since >= fullShare - 1);
    since = isForFull ? 0 : since + 1;
    return (isForFull ? full : usual).next();
  }

  function begin() {
    inFlight += 1;
    rateLimit.began();
  }

  function beginNext() {
    clearTimeout(timer);
    timer = undefined;
    while (waiting() > 0) {
      const ms = waitMs();
      if (ms > 0) {
        if (Number.isFinite(ms)) timer = setTimeout(beginNext, Math.ceil(ms));
        return;
      }
      begin();
      next()?.(true);
    }
  }

  return {
    /**
     * Waits for a turn, without a time-out: the waiting holds the lane of the message, which limits how many wait.
     * @param rank `failure` goes before `usual`; `full`, to a device whose queue was full, goes when no other waits, and else has
     * a small share of the turns
     * @param over when aborted, the send is not wanted any more
     * @returns true when the send may begin; then `settled` must follow
     */
    turn(deviceId: string, rank: Rank, over: AbortSignal | undefined): Promise<boolean> | true {
      if (isClosed || over?.aborted) return Promise.resolve(false);
      if (waiting() === 0 && waitMs() === 0) {
        begin();
        return true;
      }
      const turns = rank === 'full' ? full : usual;
      return new Promise<boolean>((resolve) => {
        const leave = () => {
          turns.remove(deviceId, go);
          resolve(false);
        };
        const go = (isTurn: boolean) => {
          over?.removeEventListener('abort', leave);
          resolve(isTurn);
        };
        over?.addEventListener('abort', leave, { once: true });
        turns.add(deviceId, go, rank === 'failure');
        if (timer === undefined) beginNext();
      });
    },
    settled(sentAt: number, refusal: SendRefusal | undefined): void {
      inFlight -= 1;
      rateLimit.settled(sentAt, refusal);
      if (waiting() > 0) beginNext();
    },
    state: (): SendQueueState => ({ waiting: waiting(), inFlight, ratePerSecond: rateLimit.perSecond() }),
    /** All that wait, and all later ones, get false. */
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (let go = next(); go !== undefined; go = next()) go(false);
    },
  };
}

/**
 * A queue that serves devices in turn, and the entries of each device in order. It works in rounds: each device that waits has
 * one turn in a round, and those whose next entry has `isFirst` have theirs before the others (C4).
 */
export function createFairQueue<T>() {
  const waiting = new Map<string, { readonly one: T; readonly isFirst: boolean }[]>();
  /** Devices that still have a turn in this round, in order of arrival. */
  const first = new Set<string>();
  const others = new Set<string>();
  const served = new Set<string>();
  let size = 0;

  function enterRound(deviceId: string) {
    if (served.has(deviceId)) return;
    first.delete(deviceId);
    others.delete(deviceId);
    const head = waiting.get(deviceId)?.[0];
    if (head) (head.isFirst ? first : others).add(deviceId);
  }

  /** Takes an entry of a device out of the queue. */
  function take(deviceId: string, at: number): T | undefined {
    const own = waiting.get(deviceId) ?? [];
    const [taken] = own.splice(at, 1);
    size -= 1;
    if (own.length === 0) waiting.delete(deviceId);
    if (size === 0) served.clear();
    return taken?.one;
  }

  return {
    /** @param isFirst whether it goes before those of other devices in the same round */
    add(deviceId: string, one: T, isFirst: boolean) {
      const own = waiting.get(deviceId) ?? [];
      own.push({ one, isFirst });
      size += 1;
      if (own.length > 1) return;
      waiting.set(deviceId, own);
      enterRound(deviceId);
    },
    remove(deviceId: string, one: T) {
      const at = (waiting.get(deviceId) ?? []).findIndex((each) => each.one === one);
      if (at < 0) return;
      take(deviceId, at);
      if (at === 0) enterRound(deviceId);
    },
    next(): T | undefined {
      if (first.size + others.size === 0) {
        served.clear();
        for (const deviceId of waiting.keys()) enterRound(deviceId);
      }
      const [deviceId] = first.size > 0 ? first : others;
      if (deviceId === undefined) return undefined;
      first.delete(deviceId);
      others.delete(deviceId);
      served.add(deviceId);
      return take(deviceId, 0);
    },
    size: () => size,
  };
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

export type RateLimit = ReturnType<typeof createRateLimit>;

/**
 * Limits how fast replies are sent to the hub (C4). The hub does not report the limit of its tier: it settles late,
 * then refuses (facts c2d.rate, c2d.quick). At the first sign of either the rate is cut to what the hub has recently accepted; then it grows until the next sign.
 */
export function createRateLimit({ ceiling, answerWithinMs, now }: RateLimitOptions) {
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
    /** How long the next send has to wait; infinite when it has to wait for an answer. */
    waitMs(inFlight: number): number {
      if (closedUntil !== undefined) return inFlight > 0 ? Number.POSITIVE_INFINITY : Math.max(0, closedUntil - now());
      const perSecond = rate();
      if (inFlight >= Math.max(1, perSecond * horizonSeconds)) return Number.POSITIVE_INFINITY;
      return Math.max(0, nextAt - slackMs - now());
    },
    /** Sends a second: undefined while no limit is known, 0 while the hub refuses every reply. */
    perSecond(): number | undefined {
      if (closedUntil !== undefined) return 0;
      return Number.isFinite(rate()) ? rate() : undefined;
    },
    began() {
      nextAt = Math.max(nextAt, now()) + 1000 / rate();
    },
    /** @param refusal undefined when the hub accepted the send */
    settled(sentAt: number, refusal: SendRefusal | undefined) {
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
