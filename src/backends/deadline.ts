import { Rejection } from '../rejection.ts';

/** How long the handling of one message may still take, retries included (P2). Its clock starts when it is made. */
export interface Deadline {
  /** Milliseconds left, never below 0. */
  remaining(): number;
  /**
   * What the promise gives, if it does so in time. The promise itself runs on: others may wait for it too.
   * @param waitingFor words for `details`
   * @throws Rejection timeout_exceeded
   */
  race<T>(promise: Promise<T>, waitingFor: string): Promise<T>;
}

/**
 * One per message, made when its handler starts. It costs no timer as long as nothing has to be waited for: an attempt
 * at a backend is limited by `remaining()`.
 */
export function createDeadline(seconds: number): Deadline {
  const end = performance.now() + seconds * 1000;
  const remaining = () => Math.max(0, end - performance.now());
  return {
    remaining,
    race: (promise, waitingFor) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(timeoutExceeded(waitingFor)), remaining());
        promise.then(resolve, reject).finally(() => clearTimeout(timer));
      }),
  };
}

/** @param waitingFor words: the backend and the operation, and the last failure if there was one */
export const timeoutExceeded = (waitingFor: string): Rejection =>
  new Rejection('timeout_exceeded', `the time of the message was over while waiting for ${waitingFor}`);
