import type { MethodResponse } from '../hub/methodResponse.ts';
import type { Log } from '../operations/log.ts';

/** Fields of the log line of an invocation. Never inputs, outputs or URLs (G5). */
export interface InvocationFields {
  correlationId?: string;
  objectId?: string;
  target?: string;
  method?: string;
  timeout?: number;
  module?: string;
  requestId?: string;
  files?: number;
  fileBytes?: number;
  /** Why the module's folder cannot be written. */
  cause?: string;
  durationMs?: number;
}

const maxTextLength = 256;

export function logInvocation(log: Log, response: MethodResponse, fields: InvocationFields): void {
  const shortened = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, maxTextLength) : value,
    ]),
  );
  if (response.status === 200) {
    log.info({ ...shortened, methodStatus: response.payload.status }, 'method invoked');
    return;
  }
  const { status, reason, payload } = response;
  const { detail: details, invoked, status: methodStatus } = payload;
  const line = { ...shortened, status, reason, details, invoked, ...(methodStatus !== undefined && { methodStatus }) };
  if (status < 500) log.info(line, 'method not invoked');
  else log.warn(line, 'method not invoked, or its outcome is unknown');
}
