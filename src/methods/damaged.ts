import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { errorsOf, Failure } from './failure.ts';

/** What came is no HTTP request, or came too slowly: there is no request that could be answered through the server. */
export function refuseDamaged(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const id = randomUUID();
  const failure = new Failure('invalid_request', sentences[error.code ?? ''] ?? 'this is not an HTTP request');
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

const sentences: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the header of the request is too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'the request did not come in whole within 30 seconds',
};
