import { Rejection } from '../protocol/rejection.ts';

/** This instance no longer handles the message. The next reader of its partition will. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

export type Deadline = ReturnType<typeof createDeadline>;

/**
 * The time limit for handling one message, retries included (P2). It has a timer only during `race` and `pause`.
 * @param ended aborted when this instance no longer handles the message; whatever waits then throws Cancelled
 * @param beforeEffect called by `check` first; it may abort `ended`
 */
export function createDeadline(seconds: number, ended?: AbortSignal, beforeEffect?: () => void) {
  let end = performance.now() + seconds * 1000;
  const cancelled = () => new Cancelled('the partition is no longer read by this instance');

  /** Milliseconds left, never below 0. */
  const remaining = () => Math.max(0, end - performance.now());

  /** @param begin starts the work, and returns the timer that settles the promise at the latest, if it needs one */
  async function unlessGone<T>(begin: (resolve: (value: T) => void, reject: Reject) => NodeJS.Timeout | undefined) {
    let leave = () => {};
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        leave = () => reject(cancelled());
        timer = begin(resolve, reject);
        if (ended?.aborted) leave();
        else if (ended) waitingUnder(ended).add(leave);
      });
    } finally {
      clearTimeout(timer);
      if (ended) waitingUnder(ended).delete(leave);
    }
  }

  /** The result of a promise that has a time limit of its own. */
  const unlessCancelled = <T>(promise: Promise<T>) =>
    unlessGone<T>((resolve, reject) => void promise.then(resolve, reject));

  return {
    remaining,
    unlessCancelled,
    /** To be called before each step with an effect outside the process. @throws Cancelled */
    check(): void {
      beforeEffect?.();
      if (ended?.aborted) throw cancelled();
    },
    /** The result of the promise, which is not cancelled. @throws Rejection timeout_exceeded, with `waitingFor` in its `details` */
    race: <T>(promise: Promise<T>, waitingFor: string): Promise<T> =>
      unlessGone((resolve, reject) => {
        promise.then(resolve, reject);
        return setTimeout(() => reject(timeoutExceeded(waitingFor)), remaining());
      }),
    /** The result of a promise that other messages hold up: its time does not count. */
    async untimed<T>(promise: Promise<T>): Promise<T> {
      const began = performance.now();
      const result = await unlessCancelled(promise);
      end += performance.now() - began;
      return result;
    },
    pause: (ms: number): Promise<void> => unlessGone((resolve) => setTimeout(resolve, ms)),
  };
}

type Reject = (error: Error) => void;

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** The waiting calls of each signal. An AbortSignal adds and removes a listener in linear time, and thousands of calls share one. */
function waitingUnder(ended: AbortSignal): Set<() => void> {
  const known = waiting.get(ended);
  if (known !== undefined) return known;
  const all = new Set<() => void>();
  waiting.set(ended, all);
  const leaveAll = () => {
    for (const leave of all) leave();
  };
  ended.addEventListener('abort', leaveAll, { once: true });
  return all;
}

/** @param waitingFor words: the backend and the operation, and the last failure if there was one */
export const timeoutExceeded = (waitingFor: string): Rejection =>
  new Rejection('timeout_exceeded', `the message timed out while waiting for ${waitingFor}`);
