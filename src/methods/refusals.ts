import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { MalformedJson } from '../protocol/json.ts';
import { Failure } from './failure.ts';

/** As much of the server's own errors as tells them apart. */
interface ServerError {
  readonly code?: unknown;
  readonly statusCode?: unknown;
  readonly validation?: readonly Fault[];
}

/** A fault as Ajv finds it. */
interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What ends a request before or beside the work on it. Anything unforeseen is ours: the caller learns an incident id. */
export function failureOf(error: unknown, correlationId: string, log: Pick<FastifyBaseLogger, 'error'>): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof MalformedJson) return new Failure('invalid_request', `the body ${error.message}`);
  const { code, statusCode, validation } = error as ServerError;
  if (validation !== undefined) return new Failure('invalid_request', sentenceOf(validation));
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Failure('too_large', 'the body has more than 262,144 bytes; a payload has at most 131,072');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Failure('unsupported_media_type', 'the body must be application/json');
    case 'FST_ERR_BAD_URL':
      return new Failure('invalid_request', 'the path is not percent-encoded UTF-8');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Failure('invalid_request', 'a segment of the path is too long');
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Failure('invalid_request', 'the request cannot be read: its body is shorter or longer than it says');
  }
  const incident = randomUUID();
  log.error({ err: error, incident, correlationId }, 'unforeseen failure');
  return new Failure('internal_error', `internal error, incident ${incident}: tell the operator of the front door`);
}

function sentenceOf([fault]: readonly Fault[]): string {
  if (fault === undefined) return 'the body is invalid';
  const where = `body${fault.instancePath.replaceAll('/', '.')}`;
  const { additionalProperty } = fault.params;
  if (typeof additionalProperty === 'string') {
    return `${where} has a member that is none of input and timeout: ${JSON.stringify(additionalProperty.slice(0, 64).toWellFormed())}`;
  }
  return `${where} ${fault.message ?? 'is invalid'}`;
}
