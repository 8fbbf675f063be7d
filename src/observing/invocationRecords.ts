import { randomUUID } from 'node:crypto';
import { statusValue } from '@device-messaging/telemetry/meter.ts';
import type { Invoked, MethodFailure, Reason } from '../protocol/vocabulary.ts';
import type { MessageRecordsOptions } from './messageRecords.ts';
import { beginStep, beginTrace, type CallTimes, type Step } from './observation.ts';
import type { Publish } from './taps.ts';

type MethodCall = Readonly<{ device: string; module: string; payload: object | null; timeoutSeconds: number }>;

type MethodEnd =
  | { readonly kind: 'response'; readonly status: number; readonly payload: unknown }
  | { readonly kind: 'failure'; readonly failure: MethodFailure; readonly status?: number; readonly code?: number };

/** Fields of the log line, as far as they are known. */
export interface RequestFields {
  readonly correlationId: string;
  readonly objectId: string;
  readonly model: string;
  readonly method: string;
  traceId?: string;
  caller?: { readonly sub?: string; readonly azp?: string };
  device?: string;
  target?: string;
  timeout?: number;
  /** Duration of the call to the hub, in ms. */
  hubMs?: number;
  /** HTTP status and error code of the hub. */
  hubStatus?: number;
  errorCode?: number;
  methodStatus?: number;
}

export interface InvocationFailure {
  readonly reason: Reason;
  readonly status: number;
  readonly invoked: Invoked;
  readonly detail: string;
  /** For the log only. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const route = '/objects/{objectId}/models/{model}/methods/{method}';

export type InvocationRecords = ReturnType<typeof createInvocationRecords>;
export type InvocationObservation = ReturnType<InvocationRecords['begin']>;

type Options = MessageRecordsOptions & { readonly hubHost: string };

/** Undefined for what is nested too deep to be written: it is refused later (M7). */
function written(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch {
    return undefined;
  }
}

export function createInvocationRecords({ log, meter, hubHost, traces, taps }: Options) {
  const record = meter.histogram('http.server.request.duration');
  const recordCall = meter.histogram('rpc.client.call.duration');

  return {
    /** @param sent the `traceparent` of the caller */
    begin(fields: RequestFields, sent?: string | readonly string[]) {
      const { correlationId, objectId, model, method } = fields;
      const { traceId, traceparent, span } = beginTrace(
        traces,
        typeof sent === 'string' ? sent : undefined,
        randomUUID(),
        // By OpenTelemetry's conventions for HTTP servers.
        () => ({
          name: `POST ${route}`,
          kind: 'server',
          attributes: {
            'http.request.method': 'POST',
            'http.route': route,
            'svc.correlation_id': correlationId,
            'svc.object.id': objectId,
            'svc.model': model,
            'svc.method': method,
          },
        }),
      );
      fields.traceId = traceId;
      const begunAt = performance.now();
      const open = new Set<Step>();
      const times: CallTimes = {};
      let publish: Publish | undefined;

      async function waitsFor<T>(what: string, of: string, answer: Promise<T>): Promise<T> {
        const step = beginStep(open, 'call', what, of);
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
        times,
        get publish() {
          return publish;
        },
        /** @param lookUpMs how long the information model took to name the device */
        routed(device: string, lookUpMs: number) {
          const { target, caller } = fields;
          publish = taps?.of(device, { correlationId });
          const ms = Math.round(lookUpMs);
          publish?.('invoked', { objectId, model, method, target, caller, traceId, lookUpMs: ms });
        },
        decoded({ timeout, input }: { readonly timeout?: number; readonly input?: object }) {
          publish?.('decoded', { timeout }, { body: input && JSON.stringify(input) });
        },
        waitsFor,
        async call<M extends MethodCall, E extends MethodEnd>(call: M, invoke: (call: M) => Promise<E>): Promise<E> {
          const { device, module, payload, timeoutSeconds } = call;
          const to = module === '' ? device : `${device}/${module}`;
          publish?.('sent', { to, timeoutSeconds }, { request: JSON.stringify(payload) });
          const called = span?.child('invoke direct method', 'client', {
            'http.request.method': 'POST',
            'server.address': hubHost,
            'svc.device.id': device,
          });
          const sentAt = performance.now();
          const end = await waitsFor(`method ${method}`, 'device', invoke(call));
          const exactMs = performance.now() - sentAt;
          const ms = Math.round(exactMs);
          fields.hubMs = ms;
          if (end.kind === 'response') {
            recordCall(exactMs / 1000, '200', '');
            publish?.('answer', { ms, status: end.status }, { response: written(end.payload) });
            called?.end({ 'http.response.status_code': 200, 'svc.device.status': end.status });
            return end;
          }
          const { failure, status, code } = end;
          if (status !== undefined) fields.hubStatus = status;
          if (code !== undefined) fields.errorCode = code;
          recordCall(exactMs / 1000, status === undefined ? '' : statusValue(status), failure);
          publish?.('answer', { ms, failure, hubStatus: status, errorCode: code });
          called?.end({ 'http.response.status_code': status }, { type: failure });
          return end;
        },
        /** @param status of the response; undefined when the caller disconnected before it was sent */
        ended(status: number | undefined, failure: InvocationFailure | undefined) {
          const exactMs = performance.now() - begunAt;
          const ms = Math.round(exactMs);
          const { device, methodStatus } = fields;
          const line = {
            ...fields,
            ...(status === undefined ? { callerGone: true } : { status }),
            ...(failure && { reason: failure.reason, invoked: failure.invoked, details: failure.detail }),
            ...failure?.fields,
            durationMs: ms,
          };
          // Where nobody but the caller has to do anything about it.
          const isHarmless = failure === undefined || (failure.status < 500 && failure.invoked === 'no');
          const isAnswered = failure === undefined && (status !== undefined || methodStatus !== undefined);
          if (isAnswered) log.info(line, 'method invoked');
          else if (isHarmless) log.info(line, 'method not invoked');
          else log.warn(line, 'method not invoked, or its outcome is unknown');
          if (status === undefined) record(exactMs / 1000, '', 'caller_gone');
          else record(exactMs / 1000, statusValue(status), failure?.reason ?? '');
          publish?.('handled', {
            status: status ?? 'the caller has gone',
            methodStatus,
            ...(failure && { reason: failure.reason, details: failure.detail }),
            ms,
          });
          // Of our side; a caller that has gone is one, too.
          const isOurs = (failure?.status ?? 0) >= 500;
          const type = isOurs ? failure?.reason : status === undefined ? 'caller_gone' : undefined;
          const ended = { 'svc.device.id': device, 'svc.method.status': methodStatus, 'svc.reason': failure?.reason };
          span?.end({ 'http.response.status_code': status, ...ended }, type && { type });
        },
      };
    },
  };
}
