import type { Circuit } from './circuit.ts';
import { type Deadline, timeoutExceeded } from './deadline.ts';

/** The same for all backends: no operator would choose others. */
export const policy = {
  /** First and longest back-off. */
  backOffMs: 100,
  maxBackOffMs: 10_000,
  /** Attempts that may end with HTTP 500 before a call is given up. */
  maxServerErrors: 3,
  /** Longest wait when `Retry-After` exceeds the message's deadline (D34). */
  maxRetryAfterMs: 15_000,
  /** Failures in a row that open the circuit (B5). */
  circuitFailures: 5,
  /** First and longest interval between probes of an open circuit. */
  probeMs: 1000,
  maxProbeMs: 15_000,
  /** A shorter time-out comes from the message's deadline and says nothing about the backend. */
  tellingTimeoutMs: 1000,
} as const;

// What an HTTP status says about the backend, about a retry and about the effect of an attempt (B4, B5).

const passing = new Set([401, 408, 425, 429, 500, 502, 503, 504]);
const outage = new Set([401, 502, 503, 504]);
const effectUnknown = new Set([500, 502, 504]);

/** A retry may succeed; after 500 only a few are made. */
export const isPassing = (status: number): boolean => passing.has(status);

/** The backend, its gateway or our access to it is down. */
export const isOutage = (status: number): boolean => outage.has(status);

export const isHealthy = (status: number): boolean => status < 500 && !passing.has(status);

/** The attempt may have taken effect despite the error. */
export const hidesEffect = (status: number): boolean => effectUnknown.has(status);

/** The wait before a retry (B4), in ms, the first being 0: with full jitter, messages that fail together do not retry together. */
export const createBackOff =
  (random: () => number = Math.random) =>
  (retry: number): number =>
    random() * Math.min(policy.maxBackOffMs, policy.backOffMs * 2 ** retry);

/** `Retry-After`, a number of seconds or an HTTP date, in ms; 0 when it is absent or invalid. */
export function retryAfterMs(value: string | undefined): number {
  if (value === undefined) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}

/** A number of seconds, or a date as HTTP writes it, to be passed on; undefined for anything else. */
export function plainRetryAfter(value: string | undefined): string | undefined {
  const date = new Date(value ?? ''); // RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`
  const isDate = !Number.isNaN(date.getTime()) && date.toUTCString() === value;
  return isDate || /^\d{1,10}$/.test(value ?? '') ? value : undefined;
}

export interface RetriesOptions {
  readonly circuit: Pick<Circuit, 'state' | 'probeNow' | 'untilProbed' | 'healthyProbes'>;
  readonly backOff: (retry: number) => number;
}

/** Decides whether and when one call is retried (B4, B5). @param waitingFor words for `details` */
export function createRetries({ circuit, backOff }: RetriesOptions, deadline: Deadline, waitingFor: () => string) {
  let retry = 0;
  let serverErrors = 0;
  let healthyProbesBefore = 0;

  return {
    /** After HTTP 500: whether the call is no longer retried. */
    givesUp(): boolean {
      if (serverErrors === 0) healthyProbesBefore = circuit.healthyProbes();
      serverErrors += 1;
      if (circuit.healthyProbes() > healthyProbesBefore) return true; // a probe found the backend healthy, so the message causes the 500s
      const isSuspect = circuit.state() === 'open' || circuit.untilProbed() !== undefined;
      return serverErrors >= policy.maxServerErrors && !isSuspect;
    },

    /** Resolves when it is time to retry. The message's deadline may have passed by then. @throws Rejection timeout_exceeded, Cancelled */
    async next(failure: string, retryAfter?: string): Promise<void> {
      const asked = retryAfterMs(retryAfter);
      const isTooLong = asked > 0 && asked >= deadline.remaining();
      if (isTooLong) circuit.probeNow(failure);
      if (deadline.remaining() === 0) throw timeoutExceeded(waitingFor());
      const healthProbe = isTooLong || serverErrors > 0 ? circuit.untilProbed() : undefined;
      if (healthProbe !== undefined) await deadline.race(healthProbe, waitingFor());
      if (circuit.state() === 'open') return; // the circuit's probes decide when to go on, regardless of `Retry-After`
      const pause = backOff(retry) + (isTooLong ? Math.min(asked, policy.maxRetryAfterMs) : asked);
      retry += 1;
      await deadline.pause(Math.min(pause, deadline.remaining()));
    },
  };
}
