import { Rejection } from '../protocol/rejection.ts';

/** The message is no longer this instance's to handle: whoever reads its partition next will. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
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
   * Lets so many milliseconds pass.
   * @throws Abandoned
   */
  pause(ms: number): Promise<void>;
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
export function createDeadline(seconds: number, ended?: AbortSignal): Deadline {
  const end = performance.now() + seconds * 1000;
  const remaining = () => Math.max(0, end - performance.now());
  const cancelled = () => new Cancelled('the partition is no longer read by this instance');

  /** @param begin settles the promise it is given, sooner or later, and answers the timer that does so at the latest */
  async function unlessGone<T>(begin: (resolve: Resolve<T>, reject: (error: Error) => void) => NodeJS.Timeout) {
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

  return {
    remaining,
    check() {
      if (ended?.aborted) throw cancelled();
    },
    race: (promise, waitingFor) =>
      unlessGone((resolve, reject) => {
        promise.then(resolve, reject);
        return setTimeout(() => reject(timeoutExceeded(waitingFor)), remaining());
      }),
    pause: (ms) => unlessGone((resolve) => setTimeout(resolve, ms)),
  };
}

type Resolve<T> = (value: T) => void;

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** What a signal ends. Thousands wait under the same one, and it would go through all its listeners for each that comes or leaves. */
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
  new Rejection('timeout_exceeded', `the time of the message was over while waiting for ${waitingFor}`);
