import { createFairQueue } from './fairQueue.ts';
import type { RateLimit } from './rateLimit.ts';
import type { SendRefusal } from './sendFailure.ts';

/** Lets sends begin in fair order, at the rate of the limit. */
export interface SendQueue {
  /**
   * Waits for a turn, without a time-out: the waiting holds the lane of the message, which limits how many wait.
   * @param over when aborted, the send is not wanted any more
   * @returns true when the send may begin; then `settled` must follow
   */
  turn(deviceId: string, isFirst: boolean, over: AbortSignal | undefined): Promise<boolean> | true;
  settled(sentAt: number, refusal: SendRefusal | undefined): void;
  /** For how many milliseconds sends wait although none is in flight, and neither the hub nor the set rate holds them. */
  idleForMs(): number;
  state(): SendQueueState;
  /** All that wait, and all later ones, get false. */
  close(): void;
}

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
  /** A clock that can't be set, in milliseconds (D180). */
  readonly now: () => number;
}

export function createSendQueue({ rateLimit, maxInFlight, now }: SendQueueOptions): SendQueue {
  const turns = createFairQueue<(isTurn: boolean) => void>();
  let inFlight = 0;
  let isClosed = false;
  /** When a send last began, was settled, or found nothing before it. */
  let movedAt = now();
  let timer: NodeJS.Timeout | undefined;

  const waitMs = () => (inFlight >= maxInFlight ? Number.POSITIVE_INFINITY : rateLimit.waitMs(inFlight));

  function begin() {
    inFlight += 1;
    movedAt = now();
    rateLimit.began();
  }

  function beginNext() {
    clearTimeout(timer);
    timer = undefined;
    while (turns.size() > 0) {
      const ms = waitMs();
      if (ms > 0) {
        if (Number.isFinite(ms)) timer = setTimeout(beginNext, Math.ceil(ms));
        return;
      }
      begin();
      turns.next()?.(true);
    }
  }

  return {
    turn(deviceId, isFirst, over) {
      if (isClosed || over?.aborted) return Promise.resolve(false);
      if (turns.size() === 0 && waitMs() === 0) {
        begin();
        return true;
      }
      if (turns.size() === 0) movedAt = now();
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
        turns.add(deviceId, go, isFirst);
        if (timer === undefined) beginNext();
      });
    },
    settled(sentAt, refusal) {
      inFlight -= 1;
      movedAt = now();
      rateLimit.settled(sentAt, refusal);
      if (turns.size() > 0) beginNext();
    },
    idleForMs() {
      if (turns.size() === 0 || inFlight > 0) return 0;
      return Math.max(0, now() - Math.max(movedAt, rateLimit.freeSince()));
    },
    state: () => ({ waiting: turns.size(), inFlight, ratePerSecond: rateLimit.perSecond() }),
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (let go = turns.next(); go !== undefined; go = turns.next()) go(false);
    },
  };
}
