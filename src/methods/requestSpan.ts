import { randomUUID } from 'node:crypto';
import type { DirectMethodResult } from '../hub/methods/directMethods.ts';
import { derivedTraceId, newTraceparent, traceContextOf } from '../protocol/trace.ts';
import type { Span, Traces } from '../tracing/span.ts';
import type { Failure } from './failure.ts';
import type { RequestFields } from './requestLog.ts';

/** The trace of an invocation. The trace id is the same whether spans are recorded or not (D105). */
export interface RequestTrace {
  readonly traceId: string;
  readonly traceparent: string;
  /** Undefined when no spans are recorded. */
  readonly span: Span | undefined;
}

const route = '/objects/{objectId}/models/{model}/methods/{method}';

/** Begins the trace of an invocation; its span follows OpenTelemetry's conventions for HTTP servers. */
export function beginTrace(
  traces: Traces | undefined,
  { correlationId, objectId, model, method }: RequestFields,
  header: string | readonly string[] | undefined,
): RequestTrace {
  const sent = typeof header === 'string' ? traceContextOf(header) : undefined;
  const samplingKey = derivedTraceId(randomUUID());
  const traceId = sent?.traceId ?? samplingKey;
  const span = traces?.begin({
    name: `POST ${route}`,
    kind: 'server',
    traceId,
    samplingKey,
    link: sent,
    attributes: {
      'http.request.method': 'POST',
      'http.route': route,
      'svc.correlation_id': correlationId,
      'svc.object.id': objectId,
      'svc.model': model,
      'svc.method': method,
    },
  });
  return { traceId, traceparent: span?.traceparent ?? newTraceparent(traceId), span };
}

/** @param status of the response; undefined when the caller has gone */
export function endRequest(
  { span }: RequestTrace,
  { device, methodStatus }: RequestFields,
  status: number | undefined,
  failure: Failure | undefined,
): void {
  const attributes = {
    'http.response.status_code': status,
    'svc.device.id': device,
    'svc.method.status': methodStatus,
    'svc.reason': failure?.reason,
  };
  const isError = failure !== undefined && failure.status >= 500;
  span?.end(
    attributes,
    isError ? { type: failure.reason } : status === undefined ? { type: 'caller_gone' } : undefined,
  );
}

/** The span of the call to the hub. */
export function beginMethod({ span }: RequestTrace, hubHost: string, device: string): Span | undefined {
  return span?.child('invoke direct method', 'client', {
    'http.request.method': 'POST',
    'server.address': hubHost,
    'svc.device.id': device,
  });
}

export function endMethod(span: Span | undefined, result: DirectMethodResult): void {
  if (result.kind === 'response') span?.end({ 'http.response.status_code': 200, 'svc.device.status': result.status });
  else span?.end({ 'http.response.status_code': result.status }, { type: result.failure });
}
