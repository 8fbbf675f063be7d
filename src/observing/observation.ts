import type { BackendKey } from '../protocol/vocabulary.ts';
import type { Span } from './span.ts';
import type { Publish } from './taps.ts';

/** A message or an invocation from its beginning to its end: what its parts add to, and what an operator may ask for. */
export interface Course {
  /** As `performance.now()`. */
  readonly begunAt: number;
  /** Backend calls and replies in progress, in the order of their beginning. */
  readonly open: Set<Step>;
  /** W3C trace context of calls without a span. */
  readonly traceparent: string;
  /** Each call and each reply gets a child of it. Undefined when no spans are recorded. */
  readonly span: Span | undefined;
  /** What the calls took so far; each adds to it. */
  readonly times: CallTimes;
  /** Undefined while the device has no follower, and while an invocation's device is not known. */
  readonly publish: Publish | undefined;
}

/** By backend. Absent while there was no call. */
export type CallTimes = Partial<Record<BackendKey, BackendTimes>>;

interface BackendTimes {
  calls: number;
  /** Requests that were sent; more than the calls when some were repeated. */
  attempts: number;
  /** Sum over the calls, with the waits for a connection, for a backend that is down, and between attempts. */
  ms: number;
}

/** What a message or an invocation does at this moment. */
export interface Step {
  readonly kind: 'call' | 'reply' | 'parking';
  /** Of a call: the backend and the operation. Of a reply: its kind. Of a message that is parked: its result code. */
  readonly what: string;
  /** The backend of a call, or what else is asked; the receiving device of a reply; the store of dead letters. */
  readonly of: string;
  /** As `performance.now()`. */
  readonly since: number;
  /**
   * For calls `room`, `connection`, `circuit`, `token`, `answer` or `retry`; for replies `turn`, `hub`, or why the hub did not take
   * it; for parking `answer` or `retry`.
   */
  waitsFor: string;
}

export function beginStep({ open }: Pick<Course, 'open'>, kind: Step['kind'], what: string, of: string): Step {
  const step = { kind, what, of, since: performance.now(), waitsFor: firstWait[kind] };
  open.add(step);
  return step;
}

const firstWait = { call: 'connection', reply: 'turn', parking: 'answer' } as const;

/** What a step waits for. */
export function inWords({ kind, what, of, waitsFor }: Readonly<Step>): string {
  if (kind === 'reply')
    return `${replyWaits[waitsFor] ?? `another attempt to send, after ${waitsFor}`} (${what} to ${of})`;
  return `${callWaits[waitsFor] ?? waitsFor} ${of} (${what})`;
}

const replyWaits: Readonly<Record<string, string>> = {
  turn: 'its turn to be sent, at the rate of the hub',
  hub: 'the hub to take a reply',
  queue_full: 'room in the queue of the device, which does not fetch its messages',
};

const callWaits: Readonly<Record<string, string>> = {
  connection: 'a free connection to the',
  room: 'room for answers, which other messages keep until their replies are sent, of the',
  circuit: 'the end of the outage of the',
  token: 'an access token for the',
  answer: 'an answer of the',
  retry: 'the next attempt at the',
};
