import type { Course } from '../observing/course.ts';
import type { HttpMethod, Operation } from '../protocol/vocabulary.ts';
import type { AnswerReading } from './answer.ts';
import type { Deadline } from './deadline.ts';
import type { Refusal } from './refusal.ts';

/** The device, the deadline and the course of the message that calls the backends. */
export interface Call {
  readonly deviceId: string;
  readonly correlationId: string;
  readonly deadline: Deadline;
  /** Called when the message has to wait because a circuit has opened. */
  readonly onOutage?: (() => void) | undefined;
  /** A GUID that is the same for each delivery of an event. */
  readonly idempotencySeed: string;
  /** Each call is recorded in it, and belongs to its trace. */
  readonly course: Course;
}

export interface CallRequest<T> {
  /** For `details` and logs: `replace object model`. */
  readonly operation: Operation;
  readonly method: HttpMethod;
  /** Path and query, encoded. */
  readonly path: string;
  /** Sent unchanged (R5). */
  readonly body?: string;
  /** Whether the request may change something. Default: true unless the method is GET. */
  readonly mutates?: boolean;
  /** 4xx statuses that are returned as `refusal` instead of thrown. */
  readonly expect?: readonly number[];
  /** Without it the body of the response is not read. */
  readonly read?: AnswerReading<T>;
}

export type CallResult<T> = (
  | { readonly value: T; readonly refusal: undefined }
  | { readonly value: undefined; readonly refusal: Refusal }
) & {
  /** The response to an earlier attempt was lost; that attempt may have taken effect (B4). */
  readonly lost: boolean;
};

/**
 * Calls a backend, with retries (B4).
 * @throws Rejection not_authorized, http_response_error, response_too_large, timeout_exceeded, internal_platform_error
 */
export type Send = <T = undefined>(request: CallRequest<T>) => Promise<CallResult<T>>;
