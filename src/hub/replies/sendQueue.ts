import { createTurns } from './fairQueue.ts';
import type { RateLimit } from './rateLimit.ts';
import type { Refusal } from './sendFailure.ts';

/** Lets sends begin in fair order, at the rate of the limit. */
export interface SendQueue {
  /**
   * Waits for a turn, without a time-out: the waiting holds the lane of the message, which limits how many wait.
   * @param over when aborted, the send is not wanted any more
   * @returns true when the send may begin; then `settled` must follow
   */
  turn(deviceId: string, isFirst: boolean, over: AbortSignal | undefined): Promise<boolean> | true;
  settled(beganAt: number, refusal: Refusal | undefined): void;
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
}

export function createSendQueue({ rateLimit, maxInFlight }: SendQueueOptions): SendQueue {
  const turns = createTurns<(isTurn: boolean) => void>();
  let inFlight = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const waitMs = () => (inFlight >= maxInFlight ? Number.POSITIVE_INFINITY : rateLimit.waitMs(inFlight));

  function begin() {
    inFlight += 1;
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
    settled(beganAt, refusal) {
      inFlight -= 1;
      rateLimit.settled(beganAt, refusal);
      if (turns.size() > 0) beginNext();
    },
    state: () => ({ waiting: turns.size(), inFlight, ratePerSecond: rateLimit.perSecond() }),
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (let go = turns.next(); go !== undefined; go = turns.next()) go(false);
    },
  };
}
