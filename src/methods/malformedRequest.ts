import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorsOf, Failure } from './failure.ts';

/** Responds on the socket: fastify has no request for input that is not HTTP or is incomplete. */
export function rejectMalformedRequest(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  endWith(failureOf(error.code), socket);
}

/** The last answer on this connection. */
export function endWith(failure: Failure, socket: Duplex): void {
  const id = randomUUID();
  const body = JSON.stringify(errorsOf(failure, id));
  const head = [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-correlation-id: ${id}`,
    'connection: close',
  ];
  socket.on('error', () => socket.destroy()); // the client has gone
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function failureOf(code: string | undefined): Failure {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure('request_timeout', 'the request was not complete in time');
    case 'HPE_HEADER_OVERFLOW':
      return new Failure('invalid_request', 'the header of the request is too large');
    default:
      return new Failure('invalid_request', 'this is not an HTTP request');
  }
}
