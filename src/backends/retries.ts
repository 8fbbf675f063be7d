import { type BackOff, retryAfterMs } from './backOff.ts';
import type { Circuit } from './circuit.ts';
import { type Deadline, timeoutExceeded } from './deadline.ts';

/** Whether and when one call is tried again (B4, B5). */
export interface Retries {
  /** After HTTP 500: the message fails by itself. */
  givesUp(): boolean;
  /**
   * Resolves when it is time to try again; the message's own may be over then.
   * @throws Rejection timeout_exceeded
   * @throws Abandoned
   */
  next(failure: string, retryAfter?: string): Promise<void>;
}

export interface RetriesOptions {
  readonly circuit: Circuit;
  readonly backOff: BackOff;
  /** A message that cannot wait for as long as the backend asks for tries again after so many ms. */
  readonly maxRetryAfterMs: number;
}

/** Attempts that may end with HTTP 500 before a message gives up. */
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
      if (circuit.healthyProbes() > healthyProbesBefore) return true; // the backend is well: it is the message
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
      if (circuit.state() === 'open') return; // whatever was asked for: a probe finds out when the backend is back
      const pause = backOff(retry) + (isTooLong ? Math.min(asked, maxRetryAfterMs) : asked);
      retry += 1;
      await deadline.pause(Math.min(pause, deadline.remaining()));
    },
  };
}
