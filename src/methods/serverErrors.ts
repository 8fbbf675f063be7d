import { randomUUID } from 'node:crypto';
import type { LogLines } from '../log/log.ts';
import { MalformedJson } from '../protocol/json.ts';
import { quoted } from '../protocol/rejection.ts';
import { Failure } from './failure.ts';
import { timeoutRule } from './schemas.ts';

/** The members of fastify's errors that are read. */
interface ServerError {
  readonly code?: unknown;
  readonly statusCode?: unknown;
  readonly validation?: readonly ValidationError[];
}

/** Of Ajv. */
interface ValidationError {
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The failure for an error of the server. Unknown errors are logged; the caller gets an incident id. */
export function failureFrom(error: unknown, correlationId: string, log: Pick<LogLines, 'error'>): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof MalformedJson) return new Failure('invalid_request', `the body ${error.message}`);
  const { code, statusCode, validation } = error as ServerError;
  if (validation !== undefined) return new Failure('invalid_request', describe(validation));
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Failure('unsupported_media_type', 'the body must be application/json');
    case 'FST_ERR_BAD_URL':
      return new Failure('invalid_request', 'the path is not percent-encoded UTF-8');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Failure('invalid_request', 'a segment of the path is too long');
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Failure('invalid_request', 'the length of the body differs from the header Content-Length');
  }
  const incident = randomUUID();
  log.error({ err: error, incident, correlationId }, 'unforeseen failure');
  return new Failure('internal_error', `internal error, incident ${incident}: tell the operator of the front door`);
}

function describe([error]: readonly ValidationError[]): string {
  const { instancePath = '', params = {} } = error ?? {};
  if (instancePath === '/timeout') return timeoutRule;
  if (instancePath === '/input') return 'input must be a JSON object of values by input name';
  const { additionalProperty } = params;
  return typeof additionalProperty === 'string'
    ? `the body has a member other than input and timeout: ${quoted(additionalProperty)}`
    : 'the body must be a JSON object';
}
