import { randomUUID } from 'node:crypto';
import { derivedTraceId, newTraceparent, traceIdOf } from '../protocol/trace.ts';

/** The caller's W3C trace context, or a new one. */
export const traceOf = (header: string | readonly string[] | undefined): string =>
  typeof header === 'string' && traceIdOf(header) !== undefined ? header : newTraceparent(derivedTraceId(randomUUID()));
