import { createFairQueue } from './fairQueue.ts';
import type { RateLimit } from './rateLimit.ts';
import type { SendRefusal } from './sendFailure.ts';

/** Lets sends begin in fair order, at the rate of the limit. */
export interface SendQueue {
  /**
   * Waits for a turn, without a time-out: the waiting holds the lane of the message, which limits how many wait.
   * @param rank `failure` goes before `usual`; `full`, to a device whose queue was full, goes when no other waits, and else has
   * a small share of the turns
   * @param over when aborted, the send is not wanted any more
   * @returns true when the send may begin; then `settled` must follow
   */
  turn(deviceId: string, rank: Rank, over: AbortSignal | undefined): Promise<boolean> | true;
  settled(sentAt: number, refusal: SendRefusal | undefined): void;
  state(): SendQueueState;
  /** All that wait, and all later ones, get false. */
  close(): void;
}

export type Rank = 'failure' | 'usual' | 'full';

/** For operators. */
export interface SendQueueState {
  /** Sends that wait for their turn. */
  readonly waiting: number;
  /** Sends that the hub has not settled. */
  readonly inFlight: number;
  /** See RateLimit. */
  readonly ratePerSecond: number | undefined;
}

interface SendQueueOptions {
  readonly rateLimit: RateLimit;
  /** Most sends that wait for the hub's answer at once. */
  readonly maxInFlight: number;
}

/** One of so many turns is for full queues while other sends wait. */
const fullShare = 16;

export function createSendQueue({ rateLimit, maxInFlight }: SendQueueOptions): SendQueue {
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
    turn(deviceId, rank, over) {
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
    settled(sentAt, refusal) {
      inFlight -= 1;
      rateLimit.settled(sentAt, refusal);
      if (waiting() > 0) beginNext();
    },
    state: () => ({ waiting: waiting(), inFlight, ratePerSecond: rateLimit.perSecond() }),
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (let go = next(); go !== undefined; go = next()) go(false);
    },
  };
}
