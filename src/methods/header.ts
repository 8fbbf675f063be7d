import type { IncomingHttpHeaders } from 'node:http';
import { isGuid, isModelId } from '../protocol/fields.ts';
import { Failure } from './failure.ts';

/** What a request must be like before anybody is asked about it. */

/** @throws Failure invalid_request */
export function checkPath({
  objectId,
  model,
  method,
}: Readonly<Record<'objectId' | 'model' | 'method', string>>): void {
  const wrong = (detail: string) => new Failure('invalid_request', detail);
  if (!isGuid(objectId)) throw wrong('the object id in the path must be a GUID');
  if (!isModelId(model)) throw wrong('the model in the path must be a model identifier');
  if (!/^\P{C}{1,256}$/u.test(method)) {
    throw wrong('the method in the path must have 1 to 256 characters, none of them a control character');
  }
}

/** @throws Failure unsupported_media_type */
export function checkMediaType({
  'content-type': type = '',
  'content-encoding': encoding = 'identity',
}: IncomingHttpHeaders): void {
  const wrong = (detail: string) => new Failure('unsupported_media_type', detail);
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw wrong('the body must be JSON: send the header Content-Type: application/json');
  }
  if (encoding.toLowerCase() !== 'identity') throw wrong('the body must not be compressed');
}
