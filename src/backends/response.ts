import { randomUUID } from 'node:crypto';
import type { LogLines } from '../log/log.ts';
import { MalformedJson } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import { readAnswer } from './answer.ts';
import type { HttpResponse } from './attempt.ts';
import type { CallRequest, CallResult } from './call.ts';
import type { Redact } from './redaction.ts';
import { refusalOf } from './refusal.ts';

export type CallResults = ReturnType<typeof createCallResults>;

/**
 * Converts the last response of a call into its result.
 * @param name of the backend, for logs and `details`
 */
export function createCallResults(name: string, log: LogLines, redact: Redact) {
  /** Logs a failure whose cause the device must not learn; the device gets an incident id. */
  function incident(operation: string, cause: unknown, status?: number, token = '', body?: string): Rejection {
    const id = randomUUID();
    // A message may quote the response, and the response may quote the request.
    const text = redact(cause instanceof Error ? cause.message : String(cause), token, body);
    const fields = { incident: id, backend: name, operation, status, cause: text.replace(/\s+/g, ' ').slice(0, 300) };
    log.error(fields, 'backend call failed');
    return new Rejection('internal_platform_error', `internal error, incident ${id}`);
  }

  /** @throws Rejection http_response_error, not_authorized, internal_platform_error, and what the reading throws */
  async function resultOf<T>(
    request: CallRequest<T>,
    { status, data, token, release }: HttpResponse,
    lost: boolean,
  ): Promise<CallResult<T>> {
    const { operation, body, expect, read } = request;
    if (status >= 400 && status < 500) {
      const refusal = refusalOf(`${name}: ${operation}`, status, data, (words) => redact(words, token, body));
      if (!expect?.includes(status)) throw refusal;
      return { value: undefined, refusal, lost };
    }
    if (status >= 300) throw incident(operation, `HTTP ${status}`, status);
    try {
      return { value: (read && (await readAnswer(data, read))) as T, refusal: undefined, lost };
    } catch (error) {
      if (error instanceof Rejection) throw error;
      // What the reader says of an answer is its own text, and quotes none.
      const quotes = !(error instanceof MalformedJson || error instanceof TypeError);
      throw incident(operation, error, status, token, quotes ? body : undefined);
    } finally {
      release?.();
    }
  }

  return { incident, resultOf };
}
