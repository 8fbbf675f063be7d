import type { SendRefusal } from './sendFailure.ts';

/** One of so many turns is for full queues while other sends wait. */
const fullShare = 16;

/** Lets sends begin in fair order, at the rate of the limit. @param maxInFlight most sends that wait for the hub's answer at once */
export function createSendQueue(rateLimit: ReturnType<typeof createRateLimit>, maxInFlight: number) {
  const usual = createFairQueue<() => void>();
  const full = createFairQueue<() => void>();
  let since = 0;
  let inFlight = 0;
  let timer: NodeJS.Timeout | undefined;

  const waitMs = () => (inFlight >= maxInFlight ? Number.POSITIVE_INFINITY : rateLimit.waitMs(inFlight));
  const waiting = () => usual.size() + full.size();

  function began() {
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
      const isForFull = usual.size() === 0 || (full.size() > 0 && since >= fullShare - 1);
      since = isForFull ? 0 : since + 1;
      began();
      (isForFull ? full : usual).next()?.();
    }
  }

  return {
    /** Whether a send may begin at once; then `settled` must follow. */
    begin(): boolean {
      const isFree = waiting() === 0 && waitMs() === 0;
      if (isFree) began();
      return isFree;
    },
    /**
     * Waits without a time-out: the lanes limit how many wait. One send of a device at a time. The result ends the wait.
     * @param rank `failure` goes before `usual`; `full`, when no other waits, and else has a small share of the turns
     * @param go called when the send may begin; then `settled` must follow
     */
    wait(deviceId: string, rank: 'failure' | 'usual' | 'full', go: () => void): () => void {
      const leave = (rank === 'full' ? full : usual).add(deviceId, go, rank === 'failure');
      if (timer === undefined) beginNext();
      return leave;
    },
    settled(sentAt: number, refusal: SendRefusal | undefined): void {
      inFlight -= 1;
      rateLimit.settled(sentAt, refusal);
      if (waiting() > 0) beginNext();
    },
    /** `inFlight`: sends that the hub has not settled. */
    state: () => ({ inFlight, ratePerSecond: rateLimit.perSecond() }),
    close: () => clearTimeout(timer),
  };
}

/** Each device has one entry at a time and one turn in a round; those whose entry has `isFirst` have theirs before the others (C4). */
export function createFairQueue<T>() {
  const newRound = () => ({ first: new Map<string, T>(), others: new Map<string, T>() });
  let [current, following] = [newRound(), newRound()];
  const served = new Set<string>();

  const sizeOf = ({ first, others }: typeof current) => first.size + others.size;
  const size = () => sizeOf(current) + sizeOf(following);

  return {
    /** @returns takes it out again */
    add(deviceId: string, one: T, isFirst: boolean): () => void {
      if (size() === 0) served.clear();
      const { first, others } = served.has(deviceId) ? following : current;
      const turns = isFirst ? first : others;
      turns.set(deviceId, one);
      return () => void turns.delete(deviceId);
    },
    next(): T | undefined {
      if (sizeOf(current) === 0) {
        [current, following] = [following, current];
        served.clear();
      }
      const turns = current.first.size > 0 ? current.first : current.others;
      for (const [deviceId, one] of turns) {
        turns.delete(deviceId);
        served.add(deviceId);
        return one;
      }
      return undefined;
    },
    size,
  };
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
const probeEveryMs = 60_000;

/**
 * Limits how fast replies are sent to the hub (C4). The hub does not report the limit of its tier: it settles late,
 * then refuses (facts c2d.rate, c2d.quick). At the first sign of either the rate is cut to what the hub has recently accepted; then it grows until the next sign.
 * @param ceiling most sends a second, as an operator has set it; infinite when not set
 * @param answerWithinMs how long the hub may take to settle one send
 * @param now a clock that can't be set, in milliseconds (D180)
 */
export function createRateLimit(ceiling: number, answerWithinMs: number, now = () => performance.now()) {
  /** An answer after this time is a sign that the hub throttles. */
  const slowMs = answerWithinMs / 2;
  /** With a known rate, at most the sends of this time are in flight: sends that wait here keep their turns. */
  const horizonSeconds = answerWithinMs / 5_000;
  let learned: { readonly rate: number; readonly cutAt: number; readonly lastSignAt: number } | undefined;
  let nextAt = Number.NEGATIVE_INFINITY;
  /** The hub refuses every reply; the next attempt is at this time. */
  let closedUntil: number | undefined;
  /** Of seconds in which the hub has accepted sends, the newest one last. */
  const history: { readonly second: number; accepted: number }[] = [];

  function rate(): number {
    if (learned === undefined) return ceiling;
    return Math.min(ceiling, learned.rate * growth((now() - learned.lastSignAt) / 1000));
  }

  const secondNow = () => Math.floor(now() / 1000);

  function countTaken() {
    const second = secondNow();
    const newest = history.at(-1);
    if (newest?.second === second) newest.accepted += 1;
    else history.push({ second, accepted: 1 });
    if (history.length > recentSeconds) history.shift();
  }

  function lately(): number {
    const oldest = secondNow() - recentSeconds;
    return Math.max(0, ...history.map(({ second, accepted }) => (second > oldest ? accepted : 0)));
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
