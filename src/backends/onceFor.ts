import type { Span } from '../tracing/span.ts';
import type { Attempt, HttpResponse } from './attempt.ts';
import type { AttemptMetrics } from './attemptMetrics.ts';
import { recordOutcomeForCaller } from './attemptOutcome.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { CallRequest } from './call.ts';
import { beginCallSpan, type Server } from './callSpan.ts';
import type { Circuit } from './circuit.ts';
import type { Deadline } from './deadline.ts';
import { headerValue } from './percentEncoding.ts';
import { staticToken, type TokenSource } from './token.ts';
import type { TransportFailure } from './transport.ts';

/** The request of a caller, who may be anybody. */
export interface CallerContext {
  /** The backend accepted the token lately: the call waits for a connection before others (M14). */
  readonly isKnown: boolean;
  readonly correlationId: string;
  readonly traceparent: string;
  /** The call gets a child of it, and that span's `traceparent`. */
  readonly span?: Span | undefined;
  readonly deadline: Deadline;
}

interface OnceRequest extends Pick<CallRequest<unknown>, 'operation' | 'method' | 'path' | 'expect'> {
  readonly headers: Readonly<Record<string, string>>;
  /** What is asked for. Failures of one subject alone open no circuit, as those of one device. */
  readonly subject: string;
}

/**
 * Sends a request once, without retries. Undefined while the circuit is open.
 * @throws Rejection timeout_exceeded
 * @throws Cancelled
 */
export type SendOnce = (
  request: OnceRequest,
  caller: CallerContext,
) => Promise<HttpResponse | TransportFailure | undefined>;

interface OnceForOptions {
  /** Of the backend, for `details`. */
  readonly name: string;
  readonly server: Server;
  readonly attemptTimeoutMs: number;
  readonly attemptWith: (tokens: TokenSource) => Attempt;
  readonly metrics: Pick<AttemptMetrics, 'attempted'>;
  readonly bulkhead: Pick<Bulkhead, 'enterAsCaller' | 'leaveAsCaller'>;
  readonly circuit: Circuit;
}

/** Calls with the token of a caller, on the connections of the service's own calls (M2). */
export function createOnceFor(options: OnceForOptions): (token: string) => SendOnce {
  const { name, server, attemptTimeoutMs, attemptWith, metrics, bulkhead, circuit } = options;
  const isOut = () => circuit.state() === 'open';

  return (token) => {
    const attempt = attemptWith(staticToken(token));

    return async (request, { isKnown, correlationId, traceparent, span: parent, deadline }) => {
      if (isOut()) return undefined;
      await bulkhead.enterAsCaller(deadline, `the ${name}`, isKnown);
      const span = parent && beginCallSpan(parent, name, server, request);
      try {
        if (isOut()) return undefined; // it has opened during the wait
        const { operation, method, path, subject } = request;
        const headers = {
          ...request.headers,
          'x-correlation-id': headerValue(correlationId),
          traceparent: span?.traceparent ?? traceparent,
        };
        const timeoutMs = Math.max(1, Math.min(attemptTimeoutMs, deadline.remaining()));
        const sentAt = performance.now();
        const response = await attempt({ method, path, headers }, timeoutMs, deadline);
        metrics.attempted(operation, method, response, sentAt);
        span?.attempted(response);
        recordOutcomeForCaller(circuit, response, subject);
        return response;
      } catch (error) {
        span?.failed(error);
        throw error;
      } finally {
        span?.end();
        bulkhead.leaveAsCaller();
      }
    };
  };
}
