import { randomBytes } from 'node:crypto';

/** W3C trace context: version 00, trace id, parent id, flags. Ids of zeros only are invalid. */
const traceparentForm = /^00-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** The trace id in a `traceparent`; undefined when that is absent or invalid. */
export const traceIdOf = (traceparent: string | undefined): string | undefined =>
  traceparent?.length === 55 ? traceparentForm.exec(traceparent)?.[1] : undefined;

/** The trace id of an event without one: the same for each delivery, as all derived ids are. */
export const derivedTraceId = (eventId: string): string => eventId.replaceAll('-', '');

/** The `traceparent` of one more piece of work in a trace. Who sent the message does not decide about sampling. */
export const newTraceparent = (traceId: string): string => `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
