import type { CallRecords } from '../observing/callRecords.ts';
import type { Step } from '../observing/course.ts';
import { derivedId } from '../protocol/event.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Attempt, HttpResponse, Outgoing } from './attempt.ts';
import type { RecordOutcome } from './attemptOutcome.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { Call, Send } from './call.ts';
import { Cancelled, type Deadline, timeoutExceeded } from './deadline.ts';
import { deviceHeader, headerValue } from './percentEncoding.ts';
import type { CallResults } from './response.ts';
import { createRetries, hidesEffect, isPassing, type Retries, type RetriesOptions } from './retryPolicy.ts';
import { NoAccessToken, type TokenSource } from './tokenSource.ts';
import { TransportFailure } from './transport.ts';

interface SendingOptions {
  /** Of the backend, for logs and `details`. */
  readonly name: string;
  /** Limit of one attempt; the message's deadline may be earlier. */
  readonly attemptTimeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly tokens: Pick<TokenSource, 'token' | 'isOut'>;
  readonly attempt: Attempt;
  readonly recordOutcome: RecordOutcome;
  readonly calls: CallRecords;
  readonly bulkhead: Bulkhead;
  readonly retries: RetriesOptions;
  readonly results: CallResults;
}

/** Sends one message's calls to a backend, with retries (B4). */
export function createSending(options: SendingOptions): (call: Call) => Send {
  const { name, attemptTimeoutMs, maxAnswerBytes, tokens, attempt, recordOutcome, calls, bulkhead, results } = options;

  const tooLarge = (operation: string) =>
    new Rejection('response_too_large', `${name}: ${operation} was answered with over ${maxAnswerBytes} bytes`);

  /** Undefined when there is no token: that says nothing about the backend. */
  async function tokenOf(coming: Promise<string>, step: Step, deadline: Deadline): Promise<string | undefined> {
    step.waitsFor = 'token';
    try {
      return await deadline.race(coming, `an access token for the ${name}`);
    } catch (error) {
      if (error instanceof NoAccessToken) return undefined;
      throw error;
    }
  }

  return (call) => {
    const { deviceId, correlationId, course, deadline, idempotencySeed, onOutage } = call;
    let headers: Readonly<Record<string, string>> | undefined;
    let answered: Map<string, number> | undefined;

    return async (request) => {
      const { operation, method, path, body, mutates = method !== 'GET' } = request;
      headers ??= {
        'x-svc-device-id': deviceHeader(deviceId),
        'x-correlation-id': headerValue(correlationId),
      };
      const route = `${method} ${path}`;
      const ordinal = answered?.get(route) ?? 0;
      const recorded = calls.begin(course, request);
      const { step } = recorded;
      const outgoing: Outgoing = {
        method,
        path,
        body,
        headers: {
          ...headers,
          traceparent: recorded.traceparent,
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

      const waitsForCircuit = () => {
        step.waitsFor = tokens.isOut() ? 'token' : 'circuit';
        onOutage?.();
      };
      try {
        for (;;) {
          step.waitsFor = 'connection';
          const waiting = bulkhead.enter(deadline, waitingFor, waitsForCircuit);
          if (waiting !== undefined) await waiting;
          let response: HttpResponse | TransportFailure | undefined;
          try {
            deadline.check();
            const known = tokens.token();
            const token = typeof known === 'string' ? known : await tokenOf(known, step, deadline);
            const timeoutMs = Math.min(attemptTimeoutMs, deadline.remaining());
            if (timeoutMs === 0) throw timeoutExceeded(waitingFor());
            if (token !== undefined) {
              recorded.sends();
              response = await attempt(outgoing, token, timeoutMs, deadline);
              recorded.attempted(response, response instanceof TransportFailure || isPassing(response.status));
              recordOutcome(response, deviceId, timeoutMs);
            }
          } catch (error) {
            throw error instanceof Rejection || error instanceof Cancelled ? error : results.incident(operation, error);
          } finally {
            bulkhead.leave();
          }

          step.waitsFor = 'retry';
          if (response === undefined) {
            failure = 'no access token';
            await retries().next(failure);
            continue;
          }
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
        recorded.failed(error);
        throw error;
      } finally {
        recorded.ended();
      }
    };
  };
}
