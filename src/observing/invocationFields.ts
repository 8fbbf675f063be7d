import type { Invoked, Reason } from '../protocol/vocabulary.ts';
import type { Attributes, SpanError } from '../tracing/span.ts';

/** What the log, the tap and the traces say of an invocation: values in, fields out. */

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

/** An invocation that has ended. */
interface EndedInvocation {
  readonly fields: RequestFields;
  /** Of the response; undefined when the caller has gone. */
  readonly status: number | undefined;
  readonly failure: InvocationFailure | undefined;
  readonly ms: number;
}

export interface InvocationFailure {
  readonly reason: Reason;
  readonly status: number;
  readonly invoked: Invoked;
  readonly detail: string;
  /** For the log only. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export const invocationLineOf = ({ fields, status, failure, ms }: EndedInvocation): object => ({
  ...fields,
  ...(status === undefined ? { callerGone: true } : { status }),
  ...(failure && { reason: failure.reason, invoked: failure.invoked, details: failure.detail, ...failure.fields }),
  durationMs: Math.round(ms),
});

/** The method was not invoked, and nobody but the caller has to do anything about it. */
export const isHarmless = ({ failure }: EndedInvocation): boolean =>
  (failure?.status ?? 0) < 500 && (failure?.invoked ?? 'no') === 'no';

/** As the metric has it; undefined after a success. */
export const reasonOf = ({ status, failure }: EndedInvocation): Reason | 'caller_gone' | undefined =>
  failure?.reason ?? (status === undefined ? 'caller_gone' : undefined);

/** @param lookUpMs how long the information model took to name the device */
export function invocationTapFieldsAtBegin(fields: RequestFields, lookUpMs: number): object {
  const { objectId, model, method, target, caller, traceId } = fields;
  return { objectId, model, method, target, caller, traceId, lookUpMs: Math.round(lookUpMs) };
}

export const invocationTapFieldsAtEnd = ({
  fields: { methodStatus },
  status,
  failure,
  ms,
}: EndedInvocation): object => ({
  status: status ?? 'the caller has gone',
  methodStatus,
  ...(failure && { reason: failure.reason, details: failure.detail }),
  ms: Math.round(ms),
});

export const route = '/objects/{objectId}/models/{model}/methods/{method}';

/** By OpenTelemetry's conventions for HTTP servers. */
export const invocationAttributesAtBegin = ({ correlationId, objectId, model, method }: RequestFields): Attributes => ({
  'http.request.method': 'POST',
  'http.route': route,
  'svc.correlation_id': correlationId,
  'svc.object.id': objectId,
  'svc.model': model,
  'svc.method': method,
});

export const invocationAttributesAtEnd = ({
  fields: { device, methodStatus },
  status,
  failure,
}: EndedInvocation): Attributes => ({
  'http.response.status_code': status,
  'svc.device.id': device,
  'svc.method.status': methodStatus,
  'svc.reason': failure?.reason,
});

/** Of our side; a caller that has gone is one, too. */
export function invocationSpanErrorOf({ status, failure }: EndedInvocation): SpanError | undefined {
  if (failure !== undefined && failure.status >= 500) return { type: failure.reason };
  return status === undefined ? { type: 'caller_gone' } : undefined;
}
