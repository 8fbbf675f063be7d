import { randomUUID } from 'node:crypto';

/** Safe in headers, log lines and payloads. */
export const correlationForm = /^[!-~]{1,128}$/;

/** The caller's correlation id, or a new one when it is missing or invalid (M8). */
export const correlationOf = (header: string | readonly string[] | undefined): string =>
  typeof header === 'string' && correlationForm.test(header) ? header : randomUUID();
