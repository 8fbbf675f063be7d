import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { errorsOf, Failure } from './failure.ts';

/** Responds on the socket: fastify has no request for input that is not HTTP or is incomplete. */
export function rejectMalformedRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const id = randomUUID();
  const failure = new Failure('invalid_request', messages[error.code ?? ''] ?? 'this is not an HTTP request');
  const body = JSON.stringify(errorsOf(failure, id));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-correlation-id: ${id}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const messages: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the header of the request is too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'the request was not complete within 30 seconds',
};
