import { derivedId } from '../protocol/event.ts';
import { Rejection } from '../protocol/rejection.ts';
import { beginStep } from '../tap/steps.ts';
import type { Attempt, HttpResponse, Outgoing } from './attempt.ts';
import type { AttemptMetrics } from './attemptMetrics.ts';
import type { RecordOutcome } from './attemptOutcome.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { Call, Send } from './call.ts';
import { beginCallSpan, type Server } from './callSpan.ts';
import { Cancelled, timeoutExceeded } from './deadline.ts';
import { deviceHeader, headerValue } from './percentEncoding.ts';
import type { CallResults } from './response.ts';
import { createRetries, hidesEffect, isPassing, type Retries, type RetriesOptions } from './retryPolicy.ts';
import { tellAttempt } from './tellAttempt.ts';
import { TransportFailure } from './transport.ts';

interface SendingOptions {
  /** Of the backend, for logs and `details`. */
  readonly name: string;
  readonly server: Server;
  /** Limit of one attempt; the message's deadline may be earlier. */
  readonly attemptTimeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly attempt: Attempt;
  readonly recordOutcome: RecordOutcome;
  readonly metrics: AttemptMetrics;
  readonly bulkhead: Bulkhead;
  readonly retries: RetriesOptions;
  readonly results: CallResults;
}

/** Sends one message's calls to a backend, with retries (B4). */
export function createSending(options: SendingOptions): (call: Call) => Send {
  const { name, server, attemptTimeoutMs, maxAnswerBytes, attempt, recordOutcome, metrics, bulkhead, results } =
    options;

  const tooLarge = (operation: string) =>
    new Rejection('response_too_large', `${name}: ${operation} was answered with over ${maxAnswerBytes} bytes`);

  const key = name.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());

  return (call) => {
    const { deviceId, correlationId, traceparent, span: parent, deadline, idempotencySeed, onOutage } = call;
    const { times = {}, steps } = call;
    let headers: Readonly<Record<string, string>> | undefined;
    let answered: Map<string, number> | undefined;

    return async (request) => {
      const { operation, method, path, body, mutates = method !== 'GET' } = request;
      headers ??= {
        'x-svc-device-id': deviceHeader(deviceId),
        'x-correlation-id': headerValue(correlationId),
        traceparent: headerValue(traceparent),
      };
      const route = `${method} ${path}`;
      const ordinal = answered?.get(route) ?? 0;
      const span = parent && beginCallSpan(parent, name, server, request);
      const outgoing: Outgoing = {
        method,
        path,
        body,
        headers: {
          ...headers,
          ...(span && { traceparent: span.traceparent }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(mutates && { 'idempotency-key': derivedId(idempotencySeed, `${route} ${ordinal}`) }),
        },
      };
      let lost = false;
      let failure = '';
      let begun: Retries | undefined;
      const retries = () => {
        begun ??= createRetries(options.retries, deadline, waitingFor);
        return begun;
      };
      const waitingFor = () => `the ${name} to ${operation}${failure && `; the last attempt ended with: ${failure}`}`;

      const began = performance.now();
      times[key] ??= { calls: 0, attempts: 0, ms: 0 };
      const own = times[key];
      own.calls += 1;
      const step = beginStep(steps, 'call', operation, name);
      const waitsForCircuit = () => {
        step.waitsFor = 'circuit';
        onOutage?.();
      };
      let attempts = 0;
      try {
        for (let isRepeat = false; ; isRepeat = true) {
          step.waitsFor = 'connection';
          const waiting = bulkhead.enter(deadline, waitingFor, waitsForCircuit);
          if (waiting !== undefined) await waiting;
          let response: HttpResponse | TransportFailure;
          try {
            deadline.check();
            const timeoutMs = Math.min(attemptTimeoutMs, deadline.remaining());
            if (timeoutMs === 0) throw timeoutExceeded(waitingFor());
            own.attempts += 1;
            if (isRepeat) metrics.repeated();
            attempts += 1;
            step.waitsFor = 'answer';
            const sentAt = performance.now();
            response = await attempt(outgoing, timeoutMs, deadline);
            metrics.attempted(operation, method, response, sentAt);
            if (steps?.tell) {
              const told = { backend: name, operation, attempt: attempts, ms: performance.now() - sentAt };
              tellAttempt(steps.tell, told, outgoing, response);
            }
            recordOutcome(response, deviceId, timeoutMs);
            span?.attempted(response);
          } catch (error) {
            throw error instanceof Rejection || error instanceof Cancelled ? error : results.incident(operation, error);
          } finally {
            bulkhead.leave();
          }

          step.waitsFor = 'retry';
          if (response instanceof TransportFailure) {
            const { fault, sent } = response;
            if (fault === 'answer too large') throw tooLarge(operation);
            failure = fault;
            lost ||= sent;
            await retries().next(failure);
            continue;
          }
          const { status, retryAfter } = response;
          if (!isPassing(status) || (status === 500 && retries().givesUp())) {
            if (mutates) {
              answered ??= new Map();
              answered.set(route, ordinal + 1);
            }
            return await results.resultOf(request, response, lost);
          }
          failure = `HTTP ${status}`;
          lost ||= hidesEffect(status);
          await retries().next(failure, retryAfter);
        }
      } catch (error) {
        span?.failed(error);
        throw error;
      } finally {
        own.ms += performance.now() - began;
        span?.end();
        steps?.open.delete(step);
      }
    };
  };
}
