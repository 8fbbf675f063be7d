import { type BackOff, retryAfterMs } from './backOff.ts';
import type { Circuit } from './circuit.ts';
import { type Deadline, timeoutExceeded } from './deadline.ts';

/** Decides whether and when one call is retried (B4, B5). */
export interface Retries {
  /** After HTTP 500: whether the call is no longer retried. */
  givesUp(): boolean;
  /**
   * Resolves when it is time to retry. The message's deadline may have passed by then.
   * @throws Rejection timeout_exceeded
   * @throws Cancelled
   */
  next(failure: string, retryAfter?: string): Promise<void>;
}

export interface RetriesOptions {
  readonly circuit: Circuit;
  readonly backOff: BackOff;
  /** Longest wait when `Retry-After` exceeds the message's deadline, in ms. */
  readonly maxRetryAfterMs: number;
}

/** Attempts that may end with HTTP 500 before a call is given up. */
const maxServerErrors = 3;

/** @param waitingFor words for `details` */
export function createRetries(options: RetriesOptions, deadline: Deadline, waitingFor: () => string): Retries {
  const { circuit, backOff, maxRetryAfterMs } = options;
  let retry = 0;
  let serverErrors = 0;
  let healthyProbesBefore = 0;

  return {
    givesUp() {
      if (serverErrors === 0) healthyProbesBefore = circuit.healthyProbes();
      serverErrors += 1;
      if (circuit.healthyProbes() > healthyProbesBefore) return true; // a probe found the backend healthy, so the message causes the 500s
      const isSuspect = circuit.state() === 'open' || circuit.untilAsked() !== undefined;
      return serverErrors >= maxServerErrors && !isSuspect;
    },

    async next(failure, retryAfter) {
      const asked = retryAfterMs(retryAfter);
      const isTooLong = asked > 0 && asked >= deadline.remaining();
      if (isTooLong) circuit.doubt(failure);
      if (deadline.remaining() === 0) throw timeoutExceeded(waitingFor());
      const healthProbe = isTooLong || serverErrors > 0 ? circuit.untilAsked() : undefined;
      if (healthProbe !== undefined) await deadline.race(healthProbe, waitingFor());
      if (circuit.state() === 'open') return; // the circuit's probes decide when to go on, regardless of `Retry-After`
      const pause = backOff(retry) + (isTooLong ? Math.min(asked, maxRetryAfterMs) : asked);
      retry += 1;
      await deadline.pause(Math.min(pause, deadline.remaining()));
    },
  };
}
