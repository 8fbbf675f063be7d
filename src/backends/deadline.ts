import { Rejection } from '../rejection.ts';

/** The message is no longer this instance's to handle: whoever reads its partition next will. */
export class Abandoned extends Error {
  override readonly name = 'Abandoned';
}

/** How long the handling of one message may still take, retries included (P2). Its clock starts when it is made. */
export interface Deadline {
  /** Milliseconds left, never below 0. */
  remaining(): number;
  /**
   * What the promise gives, if it does so in time. The promise itself runs on: others may wait for it too.
   * @param waitingFor words for `details`
   * @throws Rejection timeout_exceeded
   * @throws Abandoned
   */
  race<T>(promise: Promise<T>, waitingFor: string): Promise<T>;
  /**
   * Before each step that others can see.
   * @throws Abandoned
   */
  check(): void;
}

/**
 * One per message, made when its handler starts. It costs no timer as long as nothing has to be waited for: an attempt
 * at a backend is limited by `remaining()`.
 * @param gone aborted when the message is taken from us, however much time is left
 */
export function createDeadline(seconds: number, gone?: AbortSignal): Deadline {
  const end = performance.now() + seconds * 1000;
  const remaining = () => Math.max(0, end - performance.now());
  const abandoned = () => new Abandoned('the partition is no longer read by this instance');
  return {
    remaining,
    check() {
      if (gone?.aborted) throw abandoned();
    },
    race: (promise, waitingFor) =>
      new Promise((resolve, reject) => {
        const leave = () => reject(abandoned());
        const timer = setTimeout(() => reject(timeoutExceeded(waitingFor)), remaining());
        gone?.addEventListener('abort', leave, { once: true });
        promise.then(resolve, reject).finally(() => {
          clearTimeout(timer);
          gone?.removeEventListener('abort', leave);
        });
      }),
  };
}

/** @param waitingFor words: the backend and the operation, and the last failure if there was one */
export const timeoutExceeded = (waitingFor: string): Rejection =>
  new Rejection('timeout_exceeded', `the time of the message was over while waiting for ${waitingFor}`);
