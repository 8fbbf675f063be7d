import { derivedTraceId, newTraceparent, type TraceContext, traceContextOf } from '../protocol/ids.ts';

/** Texts are cut to 256 characters. Never a body, a token or a key (G5). */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Why work failed. */
export interface SpanError {
  /** From a closed list. */
  readonly type: string;
  readonly message?: string | undefined;
}

/** One piece of work in a trace. It is passed on as a value: there is no current span. */
export interface Span {
  /** W3C trace context for requests that are part of this work. */
  readonly traceparent: string;
  child(name: string, kind: 'client' | 'producer', attributes: Attributes): Span;
  event(name: string, attributes: Attributes): void;
  /** Only the first call counts. */
  end(attributes?: Attributes, error?: SpanError): void;
}

/** The first span of a message or an invocation. */
export interface RootSpan {
  readonly name: string;
  readonly kind: 'consumer' | 'server';
  readonly traceId: string;
  /** Decides on sampling: 32 hexadecimal digits that neither a device nor a caller can choose (D106). */
  readonly samplingKey: string;
  /** What the sender or the caller did before. It becomes a link, not the parent (D105). */
  readonly link: TraceContext | undefined;
  readonly attributes: Attributes;
}

/** Where spans begin. Undefined in place of it: no spans are recorded. */
export interface Traces {
  begin(root: RootSpan): Span;
  /** Delivers what is recorded, within a short time. Never rejects. */
  close(): Promise<void>;
}

/** A span that is not recorded, nor its children: requests pass that on to the backends. */
export function unrecorded(traceId: string): Span {
  const span: Span = {
    traceparent: newTraceparent(traceId, undefined, false),
    child: () => span,
    event() {},
    end() {},
  };
  return span;
}

/**
 * The trace of a message or an invocation. The trace id is the same whether spans are recorded or not (D105). `traceparent` is for requests
 * that have no span of their own, and for the dead letter; `span` is undefined when no spans are recorded.
 * @param sent the `traceparent` of the sender or the caller
 * @param id a UUID that they cannot choose
 * @param root asked only when spans are recorded
 */
export function beginTrace(
  traces: Traces | undefined,
  sent: string | undefined,
  id: string,
  root: () => Pick<RootSpan, 'name' | 'kind' | 'attributes'>,
) {
  const link = traceContextOf(sent);
  const samplingKey = derivedTraceId(id);
  const traceId = link?.traceId ?? samplingKey;
  const span = traces?.begin({ ...root(), traceId, samplingKey, link });
  return { traceId, traceparent: span?.traceparent ?? newTraceparent(traceId), span };
}
