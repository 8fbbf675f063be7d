import type { Troubles } from '../log/troubles.ts';
import type { HttpResponse } from './attempt.ts';
import type { Circuit } from './circuit.ts';
import { isHealthy, isOutage } from './status.ts';
import { TransportFailure } from './transport.ts';

interface OutcomeRecorderOptions {
  readonly circuit: Circuit;
  /** The usual limit of an attempt. */
  readonly attemptTimeoutMs: number;
  /** Is told each status. */
  readonly access: Access;
}

/** @param timeoutMs what the attempt had */
export type RecordOutcome = (response: HttpResponse | TransportFailure, deviceId: string, timeoutMs: number) => void;

/** A shorter time-out, of a message that is nearly over, says nothing about the backend. */
const tellingTimeoutMs = 1000;

/** Tells the circuit what an attempt says about the backend (B5). */
export function createOutcomeRecorder({ circuit, attemptTimeoutMs, access }: OutcomeRecorderOptions): RecordOutcome {
  /** A time-out while the backend answers others means slow, not out. */
  const isTelling = (timeoutMs: number) =>
    timeoutMs >= Math.min(tellingTimeoutMs, attemptTimeoutMs) && !circuit.hasSucceededWithin(timeoutMs);

  return (response, deviceId, timeoutMs) => {
    if (response instanceof TransportFailure) {
      const { fault } = response;
      if (fault === 'answer too large' || (fault === 'no answer in time' && !isTelling(timeoutMs))) return;
      circuit.failed(deviceId, fault);
      return;
    }
    const { status } = response;
    access(status);
    if (status === 500) circuit.drew500(deviceId);
    else if (isOutage(status)) circuit.failed(deviceId, `HTTP ${status}`);
    else if (isHealthy(status)) circuit.succeeded();
  };
}

/** Is told each status that the backend answers. */
export type Access = (status: number) => void;

/** Alerts those who can mend our access. */
export function createAccess(name: string, troubles: Troubles): Access {
  let isRefused = false;
  const source = `${name}: access`;
  const fields = { backend: name };

  return (status) => {
    if (status === 401) {
      isRefused = true;
      // It lasts until the backend answers otherwise, also when nothing is asked of it.
      const still = () => ({});
      troubles.met(source, { level: 'error', message: 'backend refuses our access token', fields, still });
    } else if (isRefused) {
      isRefused = false;
      troubles.over(source, 'backend accepts our access token', fields);
    }
  };
}
