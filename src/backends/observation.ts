import type { Reply } from './attempt.ts';
import type { Circuit, Log } from './circuit.ts';
import { isHealthy, isOutage } from './status.ts';
import { TransportFailure } from './transport.ts';

interface ObservationOptions {
  /** Of the backend, in words. */
  readonly name: string;
  readonly circuit: Circuit;
  /** The usual limit of an attempt. */
  readonly attemptTimeoutMs: number;
  readonly log: Log;
}

/** @param timeoutMs what the attempt had */
export type Observe = (reply: Reply | TransportFailure, deviceId: string, timeoutMs: number) => void;

/** A shorter time-out, of a message that is nearly over, says nothing about the backend. */
const tellingTimeoutMs = 1000;

/** Tells the circuit, and whoever has to mend our access, what an attempt says about the backend (B5). */
export function createObservation({ name, circuit, attemptTimeoutMs, log }: ObservationOptions): Observe {
  let tokenRefused = false;

  /** Nor does one while the backend answered others: it is there, and slow. */
  const isTelling = (timeoutMs: number) =>
    timeoutMs >= Math.min(tellingTimeoutMs, attemptTimeoutMs) && !circuit.hasSucceededWithin(timeoutMs);

  return (reply, deviceId, timeoutMs) => {
    if (reply instanceof TransportFailure) {
      const { fault } = reply;
      if (fault === 'answer too large' || (fault === 'no answer in time' && !isTelling(timeoutMs))) return;
      circuit.failed(deviceId, fault);
      return;
    }
    if (reply.status === 401 && !tokenRefused) log.error({ backend: name }, 'backend refuses our access token');
    tokenRefused = reply.status === 401;
    if (isOutage(reply.status)) circuit.failed(deviceId, `HTTP ${reply.status}`);
    else if (isHealthy(reply.status)) circuit.succeeded();
  };
}
