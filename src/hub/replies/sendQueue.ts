import { createTurns } from './fairQueue.ts';
import type { RateLimit } from './rateLimit.ts';
import type { Refusal } from './sendFailure.ts';

/** Lets sends begin, one after the other, as fast as the hub is to be sent to. */
export interface SendQueue {
  /**
   * Waits for a turn. Waiting is not limited: it is for our own pace, and who waits holds the lane of its message.
   * @param over aborted when there is nothing to send any more
   * @returns whether it is its turn; then `settled` must follow
   */
  turn(deviceId: string, isFirst: boolean, over: AbortSignal | undefined): Promise<boolean> | true;
  settled(beganAt: number, refusal: Refusal | undefined): void;
  /** Nobody waits any more, and nobody gets a turn. */
  close(): void;
}

interface SendQueueOptions {
  readonly rateLimit: RateLimit;
  /** Most sends that wait for the hub's answer at once. */
  readonly maxInFlight: number;
}

export function createSendQueue({ rateLimit, maxInFlight }: SendQueueOptions): SendQueue {
  const turns = createTurns<(isOn: boolean) => void>();
  let inFlight = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const waitMs = () => (inFlight >= maxInFlight ? Number.POSITIVE_INFINITY : rateLimit.waitMs(inFlight));

  function begin() {
    inFlight += 1;
    rateLimit.began();
  }

  function letOn() {
    clearTimeout(timer);
    timer = undefined;
    while (turns.size() > 0) {
      const ms = waitMs();
      if (ms > 0) {
        if (Number.isFinite(ms)) timer = setTimeout(letOn, Math.ceil(ms));
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
        const go = (isOn: boolean) => {
          over?.removeEventListener('abort', leave);
          resolve(isOn);
        };
        over?.addEventListener('abort', leave, { once: true });
        turns.add(deviceId, go, isFirst);
        if (timer === undefined) letOn();
      });
    },
    settled(beganAt, refusal) {
      inFlight -= 1;
      rateLimit.settled(beganAt, refusal);
      if (turns.size() > 0) letOn();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (let go = turns.next(); go !== undefined; go = turns.next()) go(false);
    },
  };
}
