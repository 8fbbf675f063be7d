import type { Json } from '../protocol/json.ts';
import type { Deadline } from './deadline.ts';
import type { Refusal } from './refusal.ts';

/** On whose behalf, and within what time, a message calls the backends. */
export interface Call {
  readonly deviceId: string;
  readonly correlationId: string;
  /** W3C trace context. */
  readonly traceparent: string;
  readonly deadline: Deadline;
  /** The message waits for a backend that has gone out while it was in work. */
  readonly onOutage?: (() => void) | undefined;
  /** A GUID that is the same whenever the hub delivers the same event again. */
  readonly idempotencySeed: string;
}

export interface CallRequest<T> {
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

export type CallResult<T> = (
  | { readonly value: T; readonly refusal: undefined }
  | { readonly value: undefined; readonly refusal: Refusal }
) & {
  /** An earlier attempt may have had its effect: its answer was lost (B4). */
  readonly lost: boolean;
};

/**
 * Calls a backend, as often as it takes (B4).
 * @throws Rejection not_authorized, http_response_error, response_too_large, timeout_exceeded, internal_platform_error
 */
export type Send = <T = undefined>(request: CallRequest<T>) => Promise<CallResult<T>>;
