import type { IncomingHttpHeaders } from 'node:http';
import { isGuid, isModelId } from '../protocol/fields.ts';
import { Failure } from './failure.ts';

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

/** @throws Failure unsupported_media_type */
export function checkMediaType({
  'content-type': type = '',
  'content-encoding': encoding = 'identity',
}: IncomingHttpHeaders): void {
  const unsupported = (detail: string) => new Failure('unsupported_media_type', detail);
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw unsupported('the body must be JSON: send the header Content-Type: application/json');
  }
  if (encoding.toLowerCase() !== 'identity') throw unsupported('the body must not be compressed');
}
