import type { Readable } from 'node:stream';
import { createDeadline } from '../backends/deadline.ts';
import { createJoined } from '../backends/transport.ts';
import { Rejection } from '../protocol/rejection.ts';
import { Failure } from './failure.ts';

/** The payload limit (M3) with as much again for white space and escapes. */
export const maxBodyBytes = 256 * 1024;

/** For a body, from the end of the look-up on (M14). */
const bodySeconds = 10;

export const bodyTooLarge = (): Failure =>
  new Failure('too_large', 'the body has more than 262,144 bytes; a payload has at most 131,072');

/**
 * The bytes of a body. After a failure it is not read any further.
 * @param ended aborted when the bytes are no longer needed
 * @throws Failure too_large, request_timeout; invalid_request when the caller has gone
 * @throws Cancelled
 */
export async function receiveBody(body: Readable, ended: AbortSignal): Promise<Buffer> {
  const joined = createJoined();
  let bytes = 0;
  let take = (_: Buffer) => {};
  const received = new Promise<Buffer>((resolve, reject) => {
    const gone = () => {
      if (!body.readableEnded) reject(new Failure('invalid_request', 'the caller has disconnected'));
    };
    take = (piece) => {
      bytes += piece.length;
      if (bytes > maxBodyBytes) reject(bodyTooLarge());
      else joined.add(piece);
    };
    body.on('data', take);
    body.once('end', () => resolve(joined.bytes()));
    body.once('error', gone);
    body.once('close', gone);
    if (body.destroyed) gone();
  });
  try {
    return await createDeadline(bodySeconds, ended).race(received, 'the body');
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    throw new Failure('request_timeout', `the body was not complete within ${bodySeconds} seconds`);
  } finally {
    body.off('data', take);
    body.pause();
  }
}
