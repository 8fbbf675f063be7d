import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import type { HttpRequest } from '../observing/callRecords.ts';
import type { Observation } from '../observing/observation.ts';
import { derivedId } from '../protocol/event.ts';
import type { Elements, Json, Keys } from '../protocol/json.ts';
import { answerReader, keysOf, MalformedJson, pickSmall } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Backend, HttpResponse, Outgoing } from './backend.ts';
import { Cancelled, type Deadline, timeoutExceeded } from './deadline.ts';
import { deviceHeader, headerValue } from './percentEncoding.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { createRetries, hidesEffect, isPassing } from './retryPolicy.ts';
import { orNone } from './tokens.ts';
import { TransportFailure } from './transport.ts';

export interface Call {
  readonly deviceId: string;
  readonly correlationId: string;
  readonly deadline: Deadline;
  /** Called when the message has to wait because a circuit has opened. */
  readonly onOutage?: (() => void) | undefined;
  /** A GUID that is the same for each delivery of an event. */
  readonly idempotencySeed: string;
  readonly observation: Observation;
}

export interface CallRequest<T> extends HttpRequest {
  /** Whether the request may change something. Default: true unless the method is GET. */
  readonly mutates?: boolean;
  /** Without it the body of the response is not read. */
  readonly read?: AnswerReading<T>;
}

export interface AnswerReading<T> {
  /** The keys of the outermost object that `result` looks at. */
  readonly keys: Keys;
  /** A list of the outermost object, which is read element by element. */
  readonly elements?: Elements;
  /** Throws when the answer is not as expected. */
  result(answer: Json): T;
  /** Called afterwards: removes what must not be passed on from the texts that were kept. */
  readonly cover?: ((redacted: (words: string) => string) => void) | undefined;
}

export function membersOf<T extends z.ZodObject>(schema: T, pickOf = pickSmall): AnswerReading<z.infer<T>> {
  const members = schema.keyof().options;
  return { keys: keysOf(members), result: (answer) => schema.parse(pickOf(answer, members)) };
}

const ofList = keysOf(['data']);
/** Called with each element of an answer as it is read. What it throws ends the reading. */
export type Take = Elements['take'];

/** The elements of `{"data":[…]}`. */
export const dataOf = (keys: Keys, take: Take): AnswerReading<void> => ({
  keys: ofList,
  elements: { key: 'data', keys, take },
  result({ members, twice }) {
    if (!members.has('data') || twice.size > 0) throw new TypeError('expected one list of data');
  },
});

type CallResult<T> = (
  | { readonly value: T; readonly refusal: undefined }
  | { readonly value: undefined; readonly refusal: Refusal }
) & {
  /** The response to an earlier attempt was lost; that attempt may have taken effect (B4). */
  readonly lost: boolean;
};

/** @throws Rejection not_authorized, http_response_error, response_too_large, timeout_exceeded, internal_platform_error */
export type Send = <T = undefined>(request: CallRequest<T>) => Promise<CallResult<T>>;

export function createSending(backend: Backend): (call: Call) => Send {
  const { name, attemptTimeoutMs, tokens, attempt, recordOutcome, calls, bulkhead, redact } = backend;

  /** Logs a failure whose cause the device must not learn; the device gets an incident id. */
  function incident(operation: string, cause: unknown, status?: number, token = '', body?: string): Rejection {
    const id = randomUUID();
    // A message may quote the response, and the response may quote the request.
    const text = redact(cause instanceof Error ? cause.message : String(cause), token, body);
    const fields = { incident: id, backend: name, operation, status, cause: text.replace(/\s+/g, ' ').slice(0, 300) };
    backend.log.error(fields, 'backend call failed');
    return new Rejection('internal_platform_error', `internal error, incident ${id}`);
  }

  /** @throws Rejection http_response_error, not_authorized, internal_platform_error, and what the reading throws */
  async function resultOf<T>(
    { operation, body, expect, read }: CallRequest<T>,
    { status, data, token, release }: HttpResponse,
    lost: boolean,
  ): Promise<CallResult<T>> {
    if (status >= 400 && status < 500) {
      const refusal = refusalOf(`${name}: ${operation}`, status, data, (words) => redact(words, token, body));
      if (!expect?.includes(status)) throw refusal;
      return { value: undefined, refusal, lost };
    }
    if (status >= 300) throw incident(operation, `HTTP ${status}`, status);
    try {
      const value = (read && (await readAnswer(data, read))) as T;
      read?.cover?.((words) => redact(words, token, body, words.length));
      return { value, refusal: undefined, lost };
    } catch (error) {
      if (error instanceof Rejection) throw error;
      // What the reader says of an answer is its own text, and quotes none.
      const quotes = !(error instanceof MalformedJson || error instanceof TypeError);
      throw incident(operation, error, status, token, quotes ? body : undefined);
    } finally {
      release?.();
    }
  }

  return (call) => {
    const { deviceId, correlationId, observation, deadline, idempotencySeed, onOutage } = call;
    let headers: Readonly<Record<string, string>> | undefined;
    let answered: Map<string, number> | undefined;

    return async (request) => {
      const { operation, method, path, body, mutates = method !== 'GET' } = request;
      headers ??= { 'x-svc-device-id': deviceHeader(deviceId), 'x-correlation-id': headerValue(correlationId) };
      const route = `${method} ${path}`;
      const ordinal = answered?.get(route) ?? 0;
      const recorded = calls.begin(observation, request);
      const { step } = recorded;
      const outgoingHeaders = {
        ...headers,
        traceparent: recorded.traceparent,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(mutates && { 'idempotency-key': derivedId(idempotencySeed, `${route} ${ordinal}`) }),
      };
      const outgoing: Outgoing = { method, path, body, headers: outgoingHeaders };
      let lost = false;
      let failure = '';
      let begun: ReturnType<typeof createRetries> | undefined;
      const retries = () => {
        begun ??= createRetries(backend.retries, deadline, waitingFor);
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
            let token: string | Promise<string> | undefined = tokens.token();
            if (typeof token !== 'string') {
              step.waitsFor = 'token';
              token = await deadline.race(orNone(token, undefined), `an access token for the ${name}`);
            }
            const timeoutMs = Math.min(attemptTimeoutMs, deadline.remaining());
            if (timeoutMs === 0) throw timeoutExceeded(waitingFor());
            if (token !== undefined) {
              recorded.sends();
              response = await attempt(outgoing, token, timeoutMs, deadline);
              recorded.attempted(response, response instanceof TransportFailure || isPassing(response.status));
              recordOutcome(response, deviceId, timeoutMs);
            }
          } catch (error) {
            throw error instanceof Rejection || error instanceof Cancelled ? error : incident(operation, error);
          } finally {
            bulkhead.leave();
          }

          step.waitsFor = 'retry';
          let retryAfter: string | undefined;
          if (response === undefined) failure = 'no access token';
          else if (response instanceof TransportFailure) {
            const { fault, sent } = response;
            if (fault === 'answer too large') {
              const excess = `was answered with over ${backend.maxAnswerBytes} bytes`;
              throw new Rejection('response_too_large', `${name}: ${operation} ${excess}`);
            }
            failure = fault;
            lost ||= sent;
          } else {
            const { status } = response;
            if (!isPassing(status) || (status === 500 && retries().givesUp())) {
              if (mutates) {
                answered ??= new Map();
                answered.set(route, ordinal + 1);
              }
              return await resultOf(request, response, lost);
            }
            failure = `HTTP ${status}`;
            lost ||= hidesEffect(status);
            retryAfter = response.retryAfter;
          }
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

/** A larger answer is read in slices of this size, and what else there is to do has its turn after each (R6). */
export const sliceBytes = 256 * 1024;

/** @throws MalformedJson, and what the reading throws */
export async function readAnswer<T>(data: Uint8Array, { keys, elements, result }: AnswerReading<T>): Promise<T> {
  const readOn = answerReader(data, keys, elements);
  for (;;) {
    const answer = readOn(sliceBytes);
    if (answer !== undefined) return result(answer);
    await setImmediate();
  }
}

/** Room for answers that a request keeps until its replies have been handed over, beyond what its card says (A10). */
export interface KeepingRoom {
  /**
   * Room for all that one request may ever keep; may be called again. Undefined when it has it, else a promise of it, which may be Cancelled:
   * until then it may keep nothing. The wait does not count towards its time (P2).
   */
  takeAll(): Promise<void> | undefined;
}
