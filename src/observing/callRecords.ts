import { statusValue } from 'telemetry/meter.ts';
import type { Meter } from '../metrics/meter.ts';
import { Rejection } from '../protocol/rejection.ts';
import {
  type BackendKey,
  backendNames,
  type HttpMethod,
  type Operation,
  type TransportFault,
} from '../protocol/vocabulary.ts';
import type { Attributes, SpanError } from '../tracing/span.ts';
import { beginStep, type Course, type Step } from './course.ts';
import { createOpenRequests } from './openRequests.ts';

/** Records the calls to one backend: metrics, a span and a step each, and what followers are told of each attempt. */
export interface CallRecords {
  begin(course: Course, request: HttpRequest): CallCourse;
  /** Age of the oldest request under way; 0 when none is. Without probes. */
  oldestMs(): number;
  /** @param beganAt as `performance.now()` */
  probed(end: AttemptEnd, beganAt: number): void;
  /** The circuit has opened. */
  out(): void;
}

/** One call with all its attempts. */
export interface CallCourse {
  readonly step: Step;
  readonly traceparent: string;
  /** An attempt begins. */
  sends(): void;
  /** @param mayPass another attempt may succeed */
  attempted(end: AttemptEnd, mayPass: boolean): void;
  /** The call has no result. */
  failed(error: unknown): void;
  ended(): void;
}

interface HttpRequest {
  readonly operation: Operation;
  readonly method: HttpMethod;
  readonly path: string;
  readonly body?: string;
  readonly expect?: readonly number[];
}

/** A response, or why there was none. */
type RequestResult = { readonly status: number } | { readonly fault: TransportFault };
type AttemptEnd =
  | { readonly status: number; readonly data: Buffer; readonly token: string }
  | { readonly fault: TransportFault };

/** Counts what happens to one backend, and how long each request to it takes. */
export function createRequestRecords(backend: BackendKey, meter: Meter) {
  const record = meter.histogram('http.client.request.duration');
  const countRetry = meter.counter('device_messaging.backend.retries');
  const countOutage = meter.counter('device_messaging.backend.outages');

  return {
    measure(operation: Operation | 'probe', method: HttpMethod, end: RequestResult, ms: number): void {
      if ('fault' in end) record(ms / 1000, backend, operation, method, '', end.fault);
      else record(ms / 1000, backend, operation, method, statusValue(end.status), '');
    },
    repeated: () => countRetry(backend),
    out: () => countOutage(backend),
  };
}

/** @param url of the backend */
export function createCallRecords(backend: BackendKey, url: string, meter: Meter): CallRecords {
  const { measure, repeated, out } = createRequestRecords(backend, meter);
  const requests = createOpenRequests();
  const name = backendNames[backend];
  const server = serverOf(url);

  return {
    begin(course, request) {
      const { operation, method, path, body } = request;
      const { publish, times } = course;
      times[backend] ??= { calls: 0, attempts: 0, ms: 0 };
      const own = times[backend];
      own.calls += 1;
      const step = beginStep(course, 'call', operation, name);
      // Without `url.full`: paths and queries have names that devices choose.
      const span = course.span?.child(operation, 'client', {
        'http.request.method': method,
        ...server,
        'svc.backend': name,
      });
      let attempts = 0;
      let sent: ReturnType<typeof requests.begin> | undefined;
      let last: AttemptEnd | undefined;
      let thrown: string | undefined;

      return {
        step,
        traceparent: span?.traceparent ?? course.traceparent,
        sends() {
          attempts += 1;
          own.attempts += 1;
          if (attempts > 1) repeated();
          step.waitsFor = 'answer';
          sent = requests.begin();
        },
        attempted(end, mayPass) {
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
        failed(error) {
          if (error instanceof Rejection) thrown = error.code;
          else thrown = error instanceof Error ? error.name : 'unknown';
        },
        ended() {
          own.ms += performance.now() - step.since;
          course.open.delete(step);
          if (sent) requests.ended(sent);
          span?.end(attributesAtEnd(last, attempts), spanErrorOf(last, thrown, request.expect));
        },
      };
    },
    probed: (end, beganAt) => measure('probe', 'GET', end, performance.now() - beganAt),
    out,
    oldestMs: requests.oldestMs,
  };
}

function serverOf(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

const attributesAtEnd = (last: AttemptEnd | undefined, attempts: number): Attributes => ({
  'http.response.status_code': statusOf(last),
  'http.request.resend_count': attempts > 1 ? attempts - 1 : undefined,
});

/** A refusal that the caller expects is no error. */
function spanErrorOf(
  last: AttemptEnd | undefined,
  thrown: string | undefined,
  expect: readonly number[] = [],
): SpanError | undefined {
  const status = statusOf(last);
  const isRefused = status !== undefined && status >= 400 && (thrown !== undefined || !expect.includes(status));
  const type = isRefused ? String(status) : (faultOf(last) ?? thrown);
  return type === undefined ? undefined : { type };
}

const statusOf = (end: AttemptEnd | undefined) => (end && 'status' in end ? end.status : undefined);
const faultOf = (end: AttemptEnd | undefined) => (end && 'fault' in end ? end.fault.replaceAll(' ', '_') : undefined);
