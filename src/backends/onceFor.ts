import type { CallRecords } from '../observing/callRecords.ts';
import type { Course } from '../observing/course.ts';
import type { Attempt, HttpResponse } from './attempt.ts';
import { recordOutcomeForCaller } from './attemptOutcome.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { CallRequest } from './call.ts';
import type { Circuit } from './circuit.ts';
import type { Deadline } from './deadline.ts';
import { headerValue } from './percentEncoding.ts';
import { isPassing } from './retryPolicy.ts';
import { staticToken, type TokenSource } from './tokenSource.ts';
import { TransportFailure } from './transport.ts';

/** The request of a caller that is not authorized yet. */
export interface CallerContext {
  /** The backend has recently accepted the token: the call waits for a connection before others (M14). */
  readonly isKnown: boolean;
  readonly correlationId: string;
  /** The call is recorded in it, and belongs to its trace. */
  readonly course: Course;
  readonly deadline: Deadline;
}

interface OnceRequest extends Pick<CallRequest<unknown>, 'operation' | 'method' | 'path' | 'expect'> {
  readonly headers: Readonly<Record<string, string>>;
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
  readonly attemptTimeoutMs: number;
  readonly attemptWith: (tokens: Pick<TokenSource, 'renew'>) => Attempt;
  readonly calls: Pick<CallRecords, 'begin'>;
  readonly bulkhead: Pick<Bulkhead, 'enterAsCaller' | 'leaveAsCaller'>;
  readonly circuit: Circuit;
}

/** Calls with the token of a caller, on the connections of the service's own calls (M2). */
export function createOnceFor(options: OnceForOptions): (token: string) => SendOnce {
  const { name, attemptTimeoutMs, attemptWith, calls, bulkhead, circuit } = options;
  const isOut = () => circuit.state() === 'open';

  return (token) => {
    const attempt = attemptWith(staticToken(token));

    return async (request, { isKnown, correlationId, course, deadline }) => {
      if (isOut()) return undefined;
      const recorded = calls.begin(course, request);
      const send = async () => {
        const { method, path } = request;
        const headers = {
          ...request.headers,
          'x-correlation-id': headerValue(correlationId),
          traceparent: recorded.traceparent,
        };
        const timeoutMs = Math.max(1, Math.min(attemptTimeoutMs, deadline.remaining()));
        recorded.sends();
        const response = await attempt({ method, path, headers }, token, timeoutMs, deadline);
        recorded.attempted(response, response instanceof TransportFailure || isPassing(response.status));
        recordOutcomeForCaller(circuit, response);
        return response;
      };
      try {
        await bulkhead.enterAsCaller(deadline, `the ${name}`, isKnown);
        try {
          return isOut() ? undefined : await send(); // it may have opened during the wait
        } finally {
          bulkhead.leaveAsCaller();
        }
      } catch (error) {
        recorded.failed(error);
        throw error;
      } finally {
        recorded.ended();
      }
    };
  };
}
