import { statusValue } from '@device-messaging/telemetry/meter.ts';
import { Rejection } from '../protocol/rejection.ts';
import {
  type BackendKey,
  backendNames,
  type HttpMethod,
  type StoreFault,
  type StoreKey,
  type StoreOperation,
  stores,
  type TransportFault,
} from '../protocol/vocabulary.ts';
import type { Meter } from './metrics.ts';
import { beginStep, type Observation } from './observation.ts';

export interface HttpRequest {
  /** What is asked of the backend, in the words of `details` and logs: `replace object model`. */
  readonly operation: string;
  readonly method: HttpMethod;
  /** Path and query, encoded. */
  readonly path: string;
  /** Sent unchanged (R5). */
  readonly body?: string;
  /** 4xx statuses that are returned as `refusal` instead of thrown. */
  readonly expect?: readonly number[];
}

type NoAnswer = { readonly fault: TransportFault };
type AttemptEnd = NoAnswer | { readonly status: number; readonly data: Buffer; readonly token: string };

export function createRequestRecords(backend: BackendKey, meter: Meter) {
  const record = meter.histogram('http.client.request.duration');
  const countRetry = meter.counter('device_messaging.backend.retries');
  const countOutage = meter.counter('device_messaging.backend.outages');
  /** In the order of their beginning, which each has as `performance.now()`. */
  const underWay = new Set<{ readonly since: number }>();

  return {
    begin() {
      const request = { since: performance.now() };
      underWay.add(request);
      return request;
    },
    /** @returns its duration in ms; it may have ended before */
    ended(request: { readonly since: number }): number {
      underWay.delete(request);
      return performance.now() - request.since;
    },
    count: () => underWay.size,
    /** Age of the oldest, in whole ms; 0 when none is under way. */
    oldestMs() {
      const [oldest] = underWay;
      return oldest === undefined ? 0 : Math.round(performance.now() - oldest.since);
    },
    measure(operation: string, method: HttpMethod, end: NoAnswer | { readonly status: number }, ms: number): void {
      if ('fault' in end) record(ms / 1000, backend, operation, method, '', end.fault);
      else record(ms / 1000, backend, operation, method, statusValue(end.status), '');
    },
    repeated: () => countRetry(backend),
    out: () => countOutage(backend),
  };
}

/** Records the calls to one backend: metrics, a span and a step each, and what followers are told of each attempt. */
export function createCallRecords(backend: BackendKey, url: string, meter: Meter) {
  const requests = createRequestRecords(backend, meter);
  const { measure, out, oldestMs } = requests;
  const name = backendNames[backend];
  const { hostname, port, protocol } = new URL(url);
  const serverPort = Number(port) || (protocol === 'https:' ? 443 : 80);

  return {
    begin(observation: Observation, request: HttpRequest) {
      const { operation, method, path, body, expect } = request;
      const { publish, times } = observation;
      times[backend] ??= { calls: 0, attempts: 0, ms: 0 };
      const own = times[backend];
      own.calls += 1;
      const step = beginStep(observation.open, 'call', operation, name);
      // Without `url.full`: paths and queries have names that devices choose.
      const span = observation.span?.child(operation, 'client', {
        'http.request.method': method,
        'server.address': hostname,
        'server.port': serverPort,
        'svc.backend': name,
      });
      let attempts = 0;
      let sent: ReturnType<typeof requests.begin> | undefined;
      let last: AttemptEnd | undefined;
      let thrown: string | undefined;

      return {
        step,
        traceparent: span?.traceparent ?? observation.traceparent,
        sends() {
          attempts += 1;
          own.attempts += 1;
          if (attempts > 1) requests.repeated();
          step.waitsFor = 'answer';
          sent = requests.begin();
        },
        /** @param mayPass another attempt may succeed */
        attempted(end: AttemptEnd, mayPass: boolean) {
          last = end;
          const ms = sent ? requests.ended(sent) : 0;
          measure(operation, method, end, ms);
          if (publish) {
            const told = { backend: name, operation, attempt: attempts, ms: Math.round(ms), method, path };
            if ('fault' in end) publish('attempt', { ...told, fault: end.fault }, { request: body });
            else publish('attempt', { ...told, status: end.status }, { request: body, response: end.data }, end.token);
          }
          if (mayPass) span?.event('attempt failed', { 'error.type': faultOf(end) ?? statusOf(end)?.toString() });
        },
        failed(error: unknown) {
          if (error instanceof Rejection) thrown = error.code;
          else thrown = error instanceof Error ? error.name : 'unknown';
        },
        ended() {
          own.ms += performance.now() - step.since;
          observation.open.delete(step);
          if (sent) requests.ended(sent);
          if (span === undefined) return;
          const status = statusOf(last);
          // A refusal that the caller expects is no error.
          const isError = status !== undefined && status >= 400 && (thrown !== undefined || !expect?.includes(status));
          const type = isError ? String(status) : (faultOf(last) ?? thrown);
          const resent = attempts > 1 ? attempts - 1 : undefined;
          const attributes = { 'http.response.status_code': status, 'http.request.resend_count': resent };
          span.end(attributes, type === undefined ? undefined : { type });
        },
      };
    },
    /** @param beganAt as `performance.now()` */
    probed: (end: AttemptEnd, beganAt: number) => measure('probe', 'GET', end, performance.now() - beganAt),
    ...{ out, oldestMs }, // of requests without probes
  };
}

const statusOf = (end: AttemptEnd | undefined) => (end && 'status' in end ? end.status : undefined);
const faultOf = (end: AttemptEnd | undefined) => (end && 'fault' in end ? end.fault.replaceAll(' ', '_') : undefined);

export type StoreRecords = ReturnType<typeof createStoreRecords>;

export function createStoreRecords(meter: Meter) {
  const record = meter.histogram('device_messaging.store.duration');
  const underWay = new Map<StoreKey, number>();
  const count = (store: StoreKey, more: number) => underWay.set(store, (underWay.get(store) ?? 0) + more);
  const asked = () => stores.filter((store) => underWay.has(store));
  meter.observe('device_messaging.store.requests', () => asked().map((store) => [underWay.get(store) ?? 0, store]));

  return {
    /** @returns called with the fault, if any, when the store has answered */
    begin(store: StoreKey, operation: StoreOperation) {
      const begunAt = performance.now();
      count(store, 1);
      return (fault?: StoreFault) => {
        count(store, -1);
        record((performance.now() - begunAt) / 1000, store, operation, fault ?? '');
      };
    },
  };
}
