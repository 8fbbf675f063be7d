import { randomUUID } from 'node:crypto';

/** What a correlation id may look like; it goes into headers, log lines and the payload as it is. */
export const correlationForm = /^[!-~]{1,128}$/;

/** The caller's correlation id; a new one when there is none that can be used (M8). */
export const correlationOf = (header: string | readonly string[] | undefined): string =>
  typeof header === 'string' && correlationForm.test(header) ? header : randomUUID();
