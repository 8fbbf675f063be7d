import { randomUUID } from 'node:crypto';
import { statusValue } from 'telemetry/meter.ts';
import type { Log } from '../log/log.ts';
import type { Meter } from '../metrics/meter.ts';
import type { MethodFailure } from '../protocol/vocabulary.ts';
import type { Publish, Taps } from '../tap/taps.ts';
import { beginTrace, type Traces } from '../tracing/span.ts';
import { beginStep, type Course } from './course.ts';
import {
  type InvocationFailure,
  invocationAttributesAtBegin,
  invocationAttributesAtEnd,
  invocationLineOf,
  invocationSpanErrorOf,
  invocationTapFieldsAtBegin,
  invocationTapFieldsAtEnd,
  isHarmless,
  type RequestFields,
  reasonOf,
  route,
} from './invocationFields.ts';

/** Records invocations at the front door: one log line each, metrics, spans, and the events of the tap. */
export interface InvocationRecords {
  /** @param traceparent of the caller */
  begin(fields: RequestFields, traceparent?: string | readonly string[]): InvocationCourse;
}

export interface InvocationCourse extends Course {
  readonly fields: RequestFields;
  /**
   * The device is known.
   * @param lookUpMs how long the information model took to name it
   */
  routed(device: string, lookUpMs: number): void;
  decoded(body: { readonly timeout?: number; readonly input?: object }): void;
  /** Waits for an answer as a step. */
  waitsFor<T>(what: string, of: string, answer: Promise<T>): Promise<T>;
  /** Calls the direct method. */
  call<M extends MethodCall, E extends MethodEnd>(method: M, invoke: (method: M) => Promise<E>): Promise<E>;
  /**
   * Called once.
   * @param status of the response; undefined when the caller disconnected before it was sent
   */
  ended(status: number | undefined, failure: InvocationFailure | undefined): void;
}

interface MethodCall {
  readonly device: string;
  readonly module: string;
  readonly payload: object | null;
  readonly timeoutSeconds: number;
}

/** How the call of a direct method ends. */
type MethodEnd =
  | { readonly kind: 'response'; readonly status: number; readonly payload: unknown }
  | { readonly kind: 'failure'; readonly failure: MethodFailure; readonly status?: number; readonly code?: number };

interface InvocationRecordsOptions {
  readonly log: Log;
  readonly meter: Meter;
  /** For spans. */
  readonly hubHost: string;
  /** Undefined: no spans are recorded. */
  readonly traces?: Traces | undefined;
  /** The followers of devices; none when omitted. */
  readonly taps?: Taps | undefined;
}

export function createInvocationRecords({
  log,
  meter,
  hubHost,
  traces,
  taps,
}: InvocationRecordsOptions): InvocationRecords {
  const record = meter.histogram('http.server.request.duration');
  const recordCall = meter.histogram('rpc.client.call.duration');

  function measureCall(end: MethodEnd, ms: number) {
    if (end.kind === 'response') recordCall(ms / 1000, '200', '');
    else recordCall(ms / 1000, end.status === undefined ? '' : statusValue(end.status), end.failure);
  }

  return {
    begin(fields, sent) {
      const { traceId, traceparent, span } = beginTrace(
        traces,
        typeof sent === 'string' ? sent : undefined,
        randomUUID(),
        () => ({
          name: `POST ${route}`,
          kind: 'server',
          attributes: invocationAttributesAtBegin(fields),
        }),
      );
      fields.traceId = traceId;
      const begunAt = performance.now();
      const open: Course['open'] = new Set();
      let publish: Publish | undefined;

      async function waitsFor<T>(what: string, of: string, answer: Promise<T>): Promise<T> {
        const step = beginStep({ open }, 'call', what, of);
        step.waitsFor = 'answer';
        try {
          return await answer;
        } finally {
          open.delete(step);
        }
      }

      return {
        fields,
        begunAt,
        open,
        traceparent,
        span,
        times: {},
        get publish() {
          return publish;
        },
        routed(device, lookUpMs) {
          publish = taps?.of(device, { correlationId: fields.correlationId });
          publish?.('invoked', invocationTapFieldsAtBegin(fields, lookUpMs));
        },
        decoded({ timeout, input }) {
          publish?.('decoded', { timeout }, { body: input && JSON.stringify(input) });
        },
        waitsFor,
        async call(method, invoke) {
          const { device, module, payload, timeoutSeconds } = method;
          const to = module === '' ? device : `${device}/${module}`;
          publish?.('sent', { to, timeoutSeconds }, { request: JSON.stringify(payload) });
          const called = span?.child('invoke direct method', 'client', {
            'http.request.method': 'POST',
            'server.address': hubHost,
            'svc.device.id': device,
          });
          const sentAt = performance.now();
          const end = await waitsFor(`method ${fields.method}`, 'device', invoke(method));
          const ms = performance.now() - sentAt;
          fields.hubMs = Math.round(ms);
          measureCall(end, ms);
          if (end.kind === 'response') {
            publish?.('answer', { ms: Math.round(ms), status: end.status }, { response: JSON.stringify(end.payload) });
            called?.end({ 'http.response.status_code': 200, 'svc.device.status': end.status });
            return end;
          }
          const { failure, status, code } = end;
          if (status !== undefined) fields.hubStatus = status;
          if (code !== undefined) fields.errorCode = code;
          publish?.('answer', { ms: Math.round(ms), failure, hubStatus: status, errorCode: code });
          called?.end({ 'http.response.status_code': status }, { type: failure });
          return end;
        },
        ended(status, failure) {
          const ended = { fields, status, failure, ms: performance.now() - begunAt };
          if (failure === undefined && status !== undefined) log.info(invocationLineOf(ended), 'method invoked');
          else if (isHarmless(ended)) log.info(invocationLineOf(ended), 'method not invoked');
          else log.warn(invocationLineOf(ended), 'method not invoked, or its outcome is unknown');
          record(ended.ms / 1000, status === undefined ? '' : statusValue(status), reasonOf(ended) ?? '');
          publish?.('handled', invocationTapFieldsAtEnd(ended));
          span?.end(invocationAttributesAtEnd(ended), invocationSpanErrorOf(ended));
        },
      };
    },
  };
}
