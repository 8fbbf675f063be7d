import { statusValue } from 'telemetry/meter.ts';
import type { Operation } from '../metrics/declared/backends.ts';
import type { Meter } from '../metrics/meter.ts';
import type { HttpResponse } from './attempt.ts';
import type { Method } from './call.ts';
import { TransportFailure } from './transport.ts';

/** The backends as attributes of metrics name them. */
export type BackendKey = 'informationModel' | 'typeRegistry' | 'principalManager';

export interface AttemptMetrics {
  /** Records one attempt, from its beginning until now. */
  attempted(
    operation: Operation | 'probe',
    method: Method,
    response: Pick<HttpResponse, 'status'> | TransportFailure,
    beganAt: number,
  ): void;
  /** An attempt repeats a failed one. */
  repeated(): void;
  /** The circuit has opened. */
  out(): void;
}

export function createAttemptMetrics(meter: Meter, backend: BackendKey): AttemptMetrics {
  const record = meter.histogram('http.client.request.duration');
  const countRetry = meter.counter('device_messaging.backend.retries');
  const countOutage = meter.counter('device_messaging.backend.outages');

  return {
    attempted(operation, method, response, beganAt) {
      const seconds = (performance.now() - beganAt) / 1000;
      if (response instanceof TransportFailure) record(seconds, backend, operation, method, '', response.fault);
      else record(seconds, backend, operation, method, statusValue(response.status), '');
    },
    repeated: () => countRetry(backend),
    out: () => countOutage(backend),
  };
}
