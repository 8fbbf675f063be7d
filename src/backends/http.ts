import { Axios, type AxiosAdapter } from 'axios';
import { derivedId } from '../protocol/event.ts';
import { Rejection } from '../rejection.ts';
import { createAdmission } from './admission.ts';
import { createAnswers } from './answer.ts';
import { createAttempt, type Outgoing, type Reply } from './attempt.ts';
import { createBackOff } from './backOff.ts';
import type { Call, Send } from './call.ts';
import { type Circuit, createCircuit, type Log } from './circuit.ts';
import { Abandoned, createDeadline, timeoutExceeded } from './deadline.ts';
import { deviceHeader, headerValue } from './headers.ts';
import { createObservation } from './observation.ts';
import { hidesEffect, isHealthy, isPassing } from './status.ts';
import type { TokenSource } from './token.ts';
import { createTransport, TransportFailure } from './transport.ts';

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
      try {
        // In no line: the attempt that opened the circuit has left its connection, and until it closes nobody takes it.
        const reply = await attempt({ method: 'GET', path: probe, headers: {} }, attemptTimeoutMs, deadline);
        return !(reply instanceof TransportFailure) && isHealthy(reply.status);
      } catch {
        return false;
      }
    },
  });
  const { incident, answerOf } = createAnswers(name, log);
  const observe = createObservation({ name, circuit, attemptTimeoutMs, log });
  const admission = createAdmission(circuit, settings.connections);

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
        const waiting = admission.enter(deadline, waitingFor);
        if (waiting !== undefined) await waiting;
        let reply: Reply | TransportFailure;
        try {
          deadline.check();
          const timeoutMs = Math.min(attemptTimeoutMs, deadline.remaining());
          if (timeoutMs === 0) throw timeoutExceeded(waitingFor());
          reply = await attempt(outgoing, timeoutMs, deadline);
          observe(reply, deviceId, timeoutMs);
        } catch (error) {
          throw error instanceof Rejection || error instanceof Abandoned ? error : incident(operation, error);
        } finally {
          admission.leave();
        }

        let retryAfter: string | undefined;
        if (reply instanceof TransportFailure) {
          if (reply.fault === 'answer too large') {
            throw new Rejection(
              'response_too_large',
              `${name}: ${operation} was answered with over ${maxAnswerBytes} bytes`,
            );
          }
          failure = reply.fault;
          lost ||= reply.sent;
        } else {
          const { status } = reply;
          if (status === 500) serverErrors += 1;
          if (!isPassing(status) || serverErrors === maxServerErrors) {
            if (mutates) answered.set(route, ordinal + 1);
            return answerOf(request, reply, lost);
          }
          failure = `HTTP ${status}`;
          retryAfter = reply.retryAfter;
          lost ||= hidesEffect(status);
        }
        const pause = backOff(retry, retryAfter);
        if (pause >= deadline.remaining()) throw timeoutExceeded(waitingFor());
        await deadline.pause(pause);
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
