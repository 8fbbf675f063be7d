import { Rejection } from '../protocol/rejection.ts';
import type { Span } from '../tracing/span.ts';
import type { HttpResponse } from './attempt.ts';
import type { CallRequest } from './call.ts';
import { isPassing } from './retryPolicy.ts';
import { TransportFailure } from './transport.ts';

/** The span of one call with all its attempts, by OpenTelemetry's conventions for HTTP clients. */
export interface CallSpan {
  readonly traceparent: string;
  /** An attempt has ended. */
  attempted(response: Pick<HttpResponse, 'status'> | TransportFailure): void;
  /** The call has no result. */
  failed(error: unknown): void;
  end(): void;
}

/** Where a backend is. */
export interface Server {
  readonly address: string;
  readonly port: number;
}

export function serverOf(url: string): Server {
  const { hostname, port, protocol } = new URL(url);
  return { address: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/** @param name of the backend */
export function beginCallSpan(
  parent: Span,
  name: string,
  { address, port }: Server,
  { operation, method, expect = [] }: Pick<CallRequest<unknown>, 'operation' | 'method' | 'expect'>,
): CallSpan {
  // Without `url.full`: paths and queries have names that devices choose.
  const span = parent.child(operation, 'client', {
    'http.request.method': method,
    'server.address': address,
    'server.port': port,
    'svc.backend': name,
  });
  let attempts = 0;
  let status: number | undefined;
  let fault: string | undefined;
  let thrown: string | undefined;

  return {
    traceparent: span.traceparent,
    attempted(response) {
      attempts += 1;
      status = response instanceof TransportFailure ? undefined : response.status;
      fault = response instanceof TransportFailure ? response.fault.replaceAll(' ', '_') : undefined;
      const isRepeated = status === undefined || isPassing(status);
      if (isRepeated) span.event('attempt failed', { 'error.type': fault ?? String(status) });
    },
    failed(error) {
      if (error instanceof Rejection) thrown = error.code;
      else thrown = error instanceof Error ? error.name : 'unknown';
    },
    end() {
      const isRefused = status !== undefined && status >= 400 && (thrown !== undefined || !expect.includes(status));
      const type = isRefused ? String(status) : (fault ?? thrown);
      span.end(
        {
          'http.response.status_code': status,
          'http.request.resend_count': attempts > 1 ? attempts - 1 : undefined,
        },
        type === undefined ? undefined : { type },
      );
    },
  };
}
