import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

/** Headers that are passed on: no `origin`, with which an admin port takes a request for one of a foreign web page. */
const passed = ['accept', 'content-type', 'content-length', 'last-event-id'];

/**
 * Passes a request on to an admin port, and its answer back as it comes.
 * @param target with path and query
 */
export function forward(target: URL, request: IncomingMessage, response: ServerResponse): void {
  const headers = Object.fromEntries(
    passed.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])),
  );
  // A connection of its own: one that is kept could end just when it is used again.
  const asked = ask(target, { method: request.method, headers, agent: false }, (answer) => {
    const { 'content-type': type = 'application/json' } = answer.headers;
    response.writeHead(answer.statusCode ?? 502, { 'content-type': type, 'cache-control': 'no-store' });
    response.flushHeaders();
    pipeline(answer, response).catch(() => response.destroy());
  });
  asked.on('error', ({ message }) => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify({ error: `${target.origin} does not answer: ${message}` }));
  });
  response.on('close', () => asked.destroy());
  request.pipe(asked);
}
