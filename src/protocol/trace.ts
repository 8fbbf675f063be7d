import { randomFillSync } from 'node:crypto';

/** A place in a trace: 32 and 16 hexadecimal digits. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
}

/** W3C trace context: version 00, trace id, parent id, flags. Ids of zeros only are invalid. */
const traceparentForm = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/;

/** The place that a `traceparent` names, without its sampling flag; undefined when it is absent or invalid. */
export function traceContextOf(traceparent: string | undefined): TraceContext | undefined {
  if (traceparent?.length !== 55) return undefined;
  const [, traceId, spanId] = traceparentForm.exec(traceparent) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}

/**
 * The trace id of an event without one: the same for each delivery, as all derived ids are.
 * @param id a UUID
 */
export const derivedTraceId = (id: string): string =>
  id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);

/** Random bytes for the next span ids: a call of the generator costs as much as thirty ids. */
const random = Buffer.alloc(2_048);
let used = random.length;
const spanIdBytes = 8;

function newSpanId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += spanIdBytes;
  return random.toString('hex', used - spanIdBytes, used);
}

/** The `traceparent` of one more piece of work in a trace. The sender of the message does not decide about sampling. */
export const newTraceparent = (traceId: string, spanId = newSpanId(), isSampled = true): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
