import { derivedTraceId, newTraceparent, type TraceContext, traceContextOf } from '../protocol/ids.ts';
import type { BackendKey } from '../protocol/vocabulary.ts';
import type { Publish } from './taps.ts';

/** Texts are cut to 256 characters. Never a body, a token or a key (G5). */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Why work failed; the type is from a closed list. */
export type SpanError = { readonly type: string; readonly message?: string | undefined };

/** One piece of work in a trace. It is passed on as a value: there is no current span. */
export interface Span {
  /** W3C trace context for requests that are part of this work. */
  readonly traceparent: string;
  child(name: string, kind: 'client' | 'producer', attributes: Attributes): Span;
  event(name: string, attributes: Attributes): void;
  /** Only the first call counts. */
  end(attributes?: Attributes, error?: SpanError): void;
}

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

export interface Traces {
  begin(root: RootSpan): Span;
  /** Delivers what is recorded, within a short time. Never rejects. */
  close(): Promise<void>;
}

/** A span that is not recorded, nor its children: requests pass that on to the backends. */
export function unrecorded(traceId: string): Span {
  const traceparent = newTraceparent(traceId, undefined, false);
  const span: Span = { traceparent, child: () => span, event() {}, end() {} };
  return span;
}

/**
 * The trace of a message or an invocation, with the same id whether spans are recorded or not (D105); when not, `span` is undefined.
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

/** A message or an invocation from its beginning to its end: what its parts add to, and what an operator may ask for. */
export interface Observation {
  /** As `performance.now()`. */
  readonly begunAt: number;
  /** Backend calls and replies in progress, in the order of their beginning. */
  readonly open: Set<Step>;
  /** W3C trace context of requests without a span, and of the dead letter. */
  readonly traceparent: string;
  /** Each call and each reply gets a child of it. Undefined when no spans are recorded. */
  readonly span: Span | undefined;
  readonly times: CallTimes;
  /** Undefined while the device has no follower, and while an invocation's device is not known. */
  readonly publish: Publish | undefined;
}

/** What the calls took so far, by backend. `attempts` are the requests that were sent; `ms` is the sum over the calls, with all their waits. */
export type CallTimes = Partial<Record<BackendKey, { calls: number; attempts: number; ms: number }>>;

/** What a message or an invocation does at this moment. */
export interface Step {
  readonly kind: 'call' | 'reply' | 'parking';
  /** Of a call: the backend and the operation. Of a reply: its kind. Of a message that is parked: its result code. */
  readonly what: string;
  /** The backend of a call, or what else is asked; the receiving device of a reply; the store of dead letters. */
  readonly of: string;
  /** As `performance.now()`. */
  readonly since: number;
  /** For calls `room`, `connection`, `circuit`, `token`, `answer` or `retry`; for replies `turn`, `hub`, or why the hub did not take it. */
  waitsFor: string;
}

const firstWait = { call: 'connection', reply: 'turn', parking: 'answer' } as const;

export function beginStep(open: Set<Step>, kind: Step['kind'], what: string, of: string): Step {
  const step = { kind, what, of, since: performance.now(), waitsFor: firstWait[kind] };
  open.add(step);
  return step;
}

export function inWords({ kind, what, of, waitsFor }: Readonly<Step>): string {
  if (kind !== 'reply') return `${waits[waitsFor] ?? waitsFor} ${of} (${what})`;
  return `${waits[waitsFor] ?? `another attempt to send, after ${waitsFor}`} (${what} to ${of})`;
}

const waits: Readonly<Record<string, string>> = {
  turn: 'its turn to be sent, at the rate of the hub',
  hub: 'the hub to take a reply',
  queue_full: 'room in the queue of the device, which does not fetch its messages',
  connection: 'a free connection to the',
  room: 'room for answers, which other messages keep until their replies are sent, of the',
  circuit: 'the end of the outage of the',
  token: 'an access token for the',
  answer: 'an answer of the',
  retry: 'the next attempt at the',
};
