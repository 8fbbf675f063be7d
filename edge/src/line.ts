import type { Answer } from './answer.ts';
import type { Log } from './log.ts';

/** What is found out about an invocation on its way; it becomes the log line. No inputs, outputs or addresses (G5). */
export interface Fields {
  correlationId?: string;
  objectId?: string;
  target?: string;
  method?: string;
  timeout?: number;
  module?: string;
  requestId?: string;
  files?: number;
  fileBytes?: number;
  /** Why a folder cannot be written. */
  cause?: string;
  durationMs?: number;
}

const longestText = 256;

export function logAnswer(log: Log, answer: Answer, fields: Fields): void {
  const short = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, longestText) : value,
    ]),
  );
  if (answer.status === 200) {
    log.info({ ...short, methodStatus: answer.payload.status }, 'method invoked');
    return;
  }
  const line = { ...short, status: answer.status, details: answer.payload.detail };
  if (answer.status < 500) log.info(line, 'method not invoked');
  else log.warn(line, 'method not invoked, or its outcome is unknown');
}
