import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isGuid, isModelId } from '../protocol/fields.ts';
import { Failure } from './failure.ts';
import { bodyTooLarge, maxBodyBytes } from './receiveBody.ts';

/** @throws Failure invalid_request */
export function checkPath({
  objectId,
  model,
  method,
}: Readonly<Record<'objectId' | 'model' | 'method', string>>): void {
  const invalid = (detail: string) => new Failure('invalid_request', detail);
  if (!isGuid(objectId)) throw invalid('the object id in the path must be a GUID');
  if (!isModelId(model)) throw invalid('the model in the path must be a model identifier');
  if (!/^\P{C}{1,256}$/u.test(method)) {
    throw invalid('the method in the path must have 1 to 256 characters and no control characters');
  }
}

/** @throws Failure unsupported_media_type, too_large */
export function checkBodyHeaders({
  'content-type': type = '',
  'content-encoding': encoding = 'identity',
  'content-length': length = '0',
}: IncomingHttpHeaders): void {
  const unsupported = (detail: string) => new Failure('unsupported_media_type', detail);
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw unsupported('the body must be JSON: send the header Content-Type: application/json');
  }
  if (encoding.toLowerCase() !== 'identity') throw unsupported('the body must not be compressed');
  if (Number(length) > maxBodyBytes) throw bodyTooLarge();
}

/**
 * What HTTP itself asks for (RFC 9110, RFC 9112). Of expectations, only 100-continue is known.
 * @throws Failure invalid_request, expectation_failed
 */
export function checkHttp({ headers: { host, expect }, httpVersion }: IncomingMessage): void {
  if (httpVersion.startsWith('0')) throw new Failure('invalid_request', 'the request must be of HTTP/1.1');
  if (host === undefined && httpVersion !== '1.0') {
    throw new Failure('invalid_request', 'a request of HTTP/1.1 must have the header Host');
  }
  if (expect !== undefined && !isContinue(expect)) {
    throw new Failure('expectation_failed', 'the header Expect may only be 100-continue');
  }
}

/** Whether the caller sends the body only when it is asked for. */
export const isContinue = (expect: string | undefined): boolean => expect?.trim().toLowerCase() === '100-continue';
