import type { Troubles } from '../log/troubles.ts';
import type { HttpResponse } from './attempt.ts';
import type { Circuit } from './circuit.ts';
import { isHealthy, isOutage, policy } from './retryPolicy.ts';
import { TransportFailure } from './transport.ts';

interface OutcomeRecorderOptions {
  readonly circuit: Circuit;
  readonly attemptTimeoutMs: number;
  readonly access: AccessRecorder;
}

/** @param timeoutMs the limit of this attempt */
export type RecordOutcome = (response: HttpResponse | TransportFailure, deviceId: string, timeoutMs: number) => void;

/** Reports the outcome of each attempt to the circuit (B5). */
export function createOutcomeRecorder({ circuit, attemptTimeoutMs, access }: OutcomeRecorderOptions): RecordOutcome {
  /** A time-out while other calls succeed means that the backend is slow, not down. */
  const isTelling = (timeoutMs: number) =>
    timeoutMs >= Math.min(policy.tellingTimeoutMs, attemptTimeoutMs) && !circuit.hasSucceededWithin(timeoutMs);

  return (response, deviceId, timeoutMs) => {
    if (response instanceof TransportFailure) {
      const { fault } = response;
      if (fault === 'answer too large' || (fault === 'no answer in time' && !isTelling(timeoutMs))) return;
      circuit.failed(deviceId, fault);
      return;
    }
    const { status } = response;
    access(status);
    if (status === 500) circuit.serverError(deviceId);
    else if (isOutage(status)) circuit.failed(deviceId, `HTTP ${status}`);
    else if (isHealthy(status)) circuit.succeeded();
  };
}

/** The same for an attempt with the token of a caller: no answer counts (M2), and without one, a probe decides (D45). */
export function recordOutcomeForCaller(circuit: Circuit, response: HttpResponse | TransportFailure): void {
  if (!(response instanceof TransportFailure) || response.fault === 'answer too large') return;
  circuit.probeNow(response.fault);
}

/** Receives each HTTP status of the backend. */
export type AccessRecorder = (status: number) => void;

/** Logs an error while the backend refuses our token. */
export function createAccessRecorder(name: string, troubles: Troubles): AccessRecorder {
  let isRefused = false;
  const source = `${name}: access`;
  const fields = { backend: name };

  return (status) => {
    if (status === 401) {
      isRefused = true;
      // The trouble lasts until the backend accepts the token, also while no calls are made.
      const still = () => ({});
      troubles.raise(source, { level: 'error', message: 'backend refuses our access token', fields, still });
    } else if (isRefused && isHealthy(status)) {
      isRefused = false;
      troubles.clear(source, 'backend accepts our access token', fields);
    }
  };
}
