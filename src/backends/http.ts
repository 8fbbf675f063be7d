import { randomUUID } from 'node:crypto';
import { Axios, type AxiosAdapter } from 'axios';
import { derivedId } from '../protocol/event.ts';
import { type Json, readJson } from '../protocol/json.ts';
import { Rejection } from '../rejection.ts';
import { createAttempt, type Outgoing, type Reply } from './attempt.ts';
import { createBackOff } from './backOff.ts';
import { type Circuit, createCircuit, type Log } from './circuit.ts';
import { createDeadline, type Deadline, timeoutExceeded } from './deadline.ts';
import { deviceHeader, headerValue } from './headers.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import type { TokenSource } from './token.ts';
import { createTransport, TransportFailure } from './transport.ts';

/** On whose behalf, and within what time, a message calls the backends. */
export interface Call {
  readonly deviceId: string;
  readonly correlationId: string;
  /** W3C trace context. */
  readonly traceparent: string;
  readonly deadline: Deadline;
  /** A GUID that is the same whenever the hub delivers the same event again. */
  readonly idempotencySeed: string;
}

export interface Request<T> {
  /** What it does, in words for `details` and logs: `replace object model`. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, encoded. */
  readonly path: string;
  /** Goes out exactly as it is (R5). */
  readonly body?: string;
  /** Whether it may change something; by default everything but GET does. */
  readonly mutates?: boolean;
  /** 4xx statuses that the caller wants to see instead of a thrown Refusal. */
  readonly expect?: readonly number[];
  /** Makes sense of the answer's body; what it throws on is garbage. Without it the body is not read. */
  readonly read?: (body: Json) => T;
}

export type Answer<T> = (
  | { readonly value: T; readonly refusal: undefined }
  | { readonly value: undefined; readonly refusal: Refusal }
) & {
  /** An earlier attempt at this mutation may have had its effect: its answer was lost (B4). */
  readonly lost: boolean;
};

/**
 * Calls a backend, as often as it takes (B4).
 * @throws Rejection not_authorized, http_response_error, response_too_large, timeout_exceeded, internal_platform_error
 */
export type Send = <T = undefined>(request: Request<T>) => Promise<Answer<T>>;

export interface Backend {
  /** The backend as one message sees it. */
  bind(call: Call): Send;
  readonly circuit: Circuit;
  close(): Promise<void>;
}

export interface BackendSettings {
  /** Limit of one attempt in ms; the message's deadline may be nearer. */
  readonly attemptTimeoutMs: number;
  readonly maxAnswerBytes: number;
  /** Connections at most. */
  readonly connections: number;
  /** First and longest step of the back-off, in ms. */
  readonly backOffMs: number;
  readonly maxBackOffMs: number;
  /** Failures that open the circuit. */
  readonly circuitFailures: number;
  /** First and longest interval between probes of an open circuit, in ms. */
  readonly probeMs: number;
  readonly maxProbeMs: number;
}

interface BackendOptions {
  readonly name: 'information model' | 'type registry' | 'principal manager';
  readonly url: string;
  /** Path of a GET that is harmless and quick, whatever it answers. */
  readonly probe: string;
  readonly tokens: TokenSource;
  readonly settings: BackendSettings;
  readonly log: Log;
  /** Takes the place of the network. */
  readonly adapter?: AxiosAdapter | undefined;
  readonly random?: (() => number) | undefined;
}

/** Attempts that may end with HTTP 500 before a message gives up. */
const maxServerErrors = 3;
/** A shorter time-out, of a message that is nearly over, says nothing about the backend. */
const tellingTimeoutMs = 1000;

const passing = new Set([401, 408, 425, 429, 500, 502, 503, 504]);
const outage = new Set([401, 502, 503, 504]);
/** The backend, or what stands before it, may have done its work all the same. */
const effectUnknown = new Set([500, 502, 504]);

export function createBackend({ name, url, probe, tokens, settings, log, adapter, random }: BackendOptions): Backend {
  const { attemptTimeoutMs, maxAnswerBytes } = settings;
  const transport = adapter ? { adapter, close: async () => {} } : createTransport(url, settings);
  const axios = new Axios({ maxContentLength: maxAnswerBytes, adapter: transport.adapter });
  const attempt = createAttempt(axios, tokens, name);
  const backOff = createBackOff(settings.backOffMs, settings.maxBackOffMs, random);
  const circuit = createCircuit({
    name,
    failures: settings.circuitFailures,
    probeMs: settings.probeMs,
    maxProbeMs: settings.maxProbeMs,
    log,
    async probe() {
      const deadline = createDeadline(attemptTimeoutMs / 1000);
      const reply = await attempt({ method: 'GET', path: probe, headers: {} }, attemptTimeoutMs, deadline).catch(
        () => undefined,
      );
      return reply !== undefined && 'status' in reply && reply.status < 500 && !passing.has(reply.status);
    },
  });
  let tokenRefused = false;

  /** The device learns an incident id; what it stands for is in the log only. */
  function incident(operation: string, cause: string, status?: number): Rejection {
    const id = randomUUID();
    log.error({ incident: id, backend: name, operation, status, cause }, 'backend call failed');
    return new Rejection('internal_platform_error', `internal error, incident ${id}`);
  }

  /** Tells the circuit, and whoever has to mend our access, what an attempt says about the backend. */
  function observe(reply: Reply | TransportFailure, deviceId: string, timeoutMs: number) {
    if (reply instanceof TransportFailure) {
      const telling = reply.fault !== 'no answer in time' || timeoutMs >= Math.min(tellingTimeoutMs, attemptTimeoutMs);
      if (telling) circuit.failed(deviceId, reply.fault);
      return;
    }
    if (reply.status === 401 && !tokenRefused) log.error({ backend: name }, 'backend refuses our access token');
    tokenRefused = reply.status === 401;
    if (outage.has(reply.status)) circuit.failed(deviceId, `HTTP ${reply.status}`);
    else if (reply.status < 500 && !passing.has(reply.status)) circuit.succeeded();
  }

  function answerOf<T>(
    { operation, expect, read }: Request<T>,
    { status, data, token }: Reply,
    lost: boolean,
  ): Answer<T> {
    if (status >= 400 && status < 500) {
      const refusal = refusalOf(`${name}: ${operation}`, status, data, token);
      if (!expect?.includes(status)) throw refusal;
      return { value: undefined, refusal, lost };
    }
    if (status < 200 || status >= 300) throw incident(operation, `HTTP ${status}`, status);
    try {
      return { value: read?.(readJson(data)) as T, refusal: undefined, lost };
    } catch (error) {
      throw incident(operation, `unreadable answer: ${error instanceof Error ? error.message : error}`, status);
    }
  }

  function bind({ deviceId, correlationId, traceparent, deadline, idempotencySeed }: Call): Send {
    let headers: Readonly<Record<string, string>> | undefined;
    const answered = new Map<string, number>();

    return async (request) => {
      const { operation, method, path, body, mutates = method !== 'GET' } = request;
      headers ??= {
        'x-svc-device-id': deviceHeader(deviceId),
        'x-correlation-id': headerValue(correlationId),
        traceparent: headerValue(traceparent),
      };
      const route = `${method} ${path}`;
      const ordinal = answered.get(route) ?? 0;
      const outgoing: Outgoing = {
        method,
        path,
        body,
        headers: {
          ...headers,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(mutates && { 'idempotency-key': derivedId(idempotencySeed, `${route} ${ordinal}`) }),
        },
      };
      let lost = false;
      let serverErrors = 0;
      let failure = '';
      const waitingFor = () => `the ${name} to ${operation}${failure && `; the last attempt ended with: ${failure}`}`;

      for (let retry = 0; ; retry += 1) {
        for (let out = circuit.untilClosed(); out; out = circuit.untilClosed()) await deadline.race(out, waitingFor());
        const timeoutMs = Math.min(attemptTimeoutMs, deadline.remaining());
        if (timeoutMs === 0) throw timeoutExceeded(waitingFor());
        const reply = await attempt(outgoing, timeoutMs, deadline);
        observe(reply, deviceId, timeoutMs);

        let retryAfter: string | undefined;
        if (reply instanceof TransportFailure) {
          if (reply.fault === 'answer too large') {
            throw new Rejection(
              'response_too_large',
              `${name}: ${operation} was answered with over ${maxAnswerBytes} bytes`,
            );
          }
          failure = reply.fault;
          lost ||= mutates && reply.sent;
        } else {
          const { status } = reply;
          if (status === 500) serverErrors += 1;
          if (!passing.has(status) || serverErrors === maxServerErrors) {
            if (mutates) answered.set(route, ordinal + 1);
            return answerOf(request, reply, lost);
          }
          failure = `HTTP ${status}`;
          retryAfter = reply.retryAfter;
          lost ||= mutates && effectUnknown.has(status);
        }
        const pause = backOff(retry, retryAfter);
        if (pause >= deadline.remaining()) throw timeoutExceeded(waitingFor());
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    };
  }

  return {
    bind,
    circuit,
    async close() {
      circuit.close();
      await transport.close();
    },
  };
}
