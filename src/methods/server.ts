import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createPlainServer, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify';
import type { Certificate } from '../access/secretFiles.ts';
import type { LogLines } from '../observing/log.ts';
import { contract, correlationForm, isContinue } from './contract.ts';
import { errorsOf, Failure, failureFrom } from './failure.ts';
import type { RequestHandler } from './requestHandler.ts';

interface ServerOptions {
  readonly handler: Pick<RequestHandler, 'handle' | 'isStopping'>;
  /** PEM. Undefined: plain HTTP. */
  readonly tls?: Certificate | undefined;
  readonly log: LogLines;
  /** In this time a caller has to take an answer. */
  readonly takenWithinMs?: number;
}

/** A model identifier of 256 characters, percent-encoded. */
const maxSegmentLength = 3 * 4 * 256;
const path = '/objects/:objectId/models/:model/methods/:method';
type Parameters = Readonly<Record<'objectId' | 'model' | 'method', string>>;

/** The HTTP interface (M1). Does not listen yet. */
export function createServer({ handler, tls, log, takenWithinMs = 30_000 }: ServerOptions) {
  const server = fastify({
    loggerInstance: serverLog(log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => correlationOf(headers['x-correlation-id']),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: maxSegmentLength },
    frameworkErrors: (error, request, reply) => void fail(error, request, reply),
    clientErrorHandler: rejectMalformedRequest,
    serverFactory: (listener) => createHttpServer(listener, tls),
  });

  // The handler reads the body itself, when it knows the caller (M2).
  server.removeAllContentTypeParsers();
  server.addHttpMethod('POST', { hasBody: false, overrideExisting: true });
  server.addHook('onRequest', async (request, reply) => {
    rememberUnanswered(reply.raw);
    reply.headers({ 'x-correlation-id': request.id, 'cache-control': 'no-store' });
    checkHttp(request.raw);
  });
  server.addHook('onSend', async (_, reply) => {
    const { raw } = reply;
    const begin = () => closeUnlessTaken(raw, takenWithinMs);
    if (raw.socket) begin();
    else raw.once('socket', begin); // behind the answers to earlier requests of its connection
    if (handler.isStopping()) reply.header('connection', 'close');
  });
  server.setErrorHandler(fail);
  server.setNotFoundHandler((request, reply) => fail(routeNotFound(), request, reply));
  server.server.on('connect', (_, socket) => endWith(routeNotFound(), socket)); // Node would close the connection

  for (const prefix of ['', '/v1']) {
    server.post<{ Params: Parameters }>(prefix + path, async ({ id, params, raw }, reply) =>
      handler.handle({ correlationId: id, ...params }, raw, reply.raw),
    );
  }
  server.get('/openapi.json', async () => contract);

  function fail(error: unknown, { id }: Pick<FastifyRequest, 'id'>, reply: Pick<FastifyReply, 'header' | 'code'>) {
    const failure = failureOfServer(error) ?? failureFrom(error, id, log);
    if (failure.status === 401) reply.header('www-authenticate', 'Bearer');
    if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
    return reply.header('x-correlation-id', id).code(failure.status).send(errorsOf(failure, id));
  }
  return server;
}

/** The caller's correlation id, or a new one when it is missing or invalid (M8). */
const correlationOf = (header: string | readonly string[] | undefined): string =>
  typeof header === 'string' && correlationForm.test(header) ? header : randomUUID();

const paths = 'the paths are POST /objects/{objectId}/models/{model}/methods/{method}, and GET /openapi.json';
const routeNotFound = () => new Failure('route_not_found', paths);

/** What HTTP itself asks for (RFC 9110, RFC 9112). @throws Failure invalid_request, expectation_failed */
export function checkHttp({ headers: { host, expect }, httpVersion }: IncomingMessage): void {
  if (httpVersion.startsWith('0')) throw new Failure('invalid_request', 'the request must be of HTTP/1.1');
  if (host === undefined && httpVersion !== '1.0') {
    throw new Failure('invalid_request', 'a request of HTTP/1.1 must have the header Host');
  }
  if (expect !== undefined && !isContinue(expect)) {
    throw new Failure('expectation_failed', 'the header Expect may only be 100-continue');
  }
}

export function failureOfServer(error: unknown): Failure | undefined {
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new Failure('unsupported_media_type', 'the body must be application/json');
  }
  if (code === 'FST_ERR_BAD_URL') return new Failure('invalid_request', 'the path is not percent-encoded UTF-8');
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new Failure('invalid_request', 'a segment of the path is too long');
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Failure('invalid_request', 'the length of the body differs from the header Content-Length');
  }
  return undefined;
}

/** A caller that reads no answers would hold the places of what it has invoked. */
function closeUnlessTaken(response: ServerResponse, withinMs: number) {
  const overdue = setTimeout(() => response.socket?.destroy(), withinMs).unref();
  response.once('close', () => clearTimeout(overdue));
}

/** Of a connection: the responses that have not been sent yet. */
const unanswered = new WeakMap<Duplex, Set<ServerResponse>>();

function rememberUnanswered(response: ServerResponse) {
  const { socket } = response.req;
  const ofConnection = unanswered.get(socket) ?? new Set();
  unanswered.set(socket, ofConnection.add(response));
  response.once('close', () => ofConnection.delete(response));
}

/** The header of a request has ten seconds, as have look-ups and then the body; a body that is not read has the rest of the time. */
const httpOptions = {
  headersTimeout: 10_000,
  requestTimeout: 35_000,
  connectionsCheckingInterval: 1_000,
  requireHostHeader: false,
  keepAliveTimeout: 72_000, // longer than the idle time of usual load balancers, so that they close connections first
};

export const secureOptions = (tls: Certificate) => ({ ...tls, minVersion: 'TLSv1.2' as const });

/**
 * Node's server with our limits. It leaves to the listener what Node would answer by itself, without a body: a missing `Host`, and `Expect`,
 * with which the listener asks for the body when it wants it.
 */
export function createHttpServer(listener: RequestListener, tls: Certificate | undefined): Server {
  const server = tls
    ? createTlsServer({ ...httpOptions, ...secureOptions(tls) }, listener)
    : createPlainServer(httpOptions, listener);
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  return server;
}

/** Responds on the socket: fastify has no request for input that is not HTTP or is incomplete. */
export function rejectMalformedRequest(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    endWith(new Failure('request_timeout', 'the request was not complete in time'), socket);
  } else {
    const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
    const detail = isTooLarge ? 'the header of the request is too large' : 'this is not an HTTP request';
    endWith(new Failure('invalid_request', detail), socket);
  }
}

function endWith(failure: Failure, socket: Duplex): void {
  // It would be taken for the answer to an earlier request, which may have been invoked.
  for (const { req } of unanswered.get(socket) ?? []) if (req.complete) return void socket.destroy();
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

/** Logs what fastify itself reports at `warn` and above: its text and the error, not the request with its token (G5). */
export function serverLog(log: LogLines): FastifyBaseLogger {
  const ignore = () => {};
  /** Its methods take a text, an error, or an object with the error in `err` and then a text. */
  const told = (level: 'warn' | 'error') => (first: unknown, text?: unknown) => {
    const err = first instanceof Error ? first : (Object(first) as { readonly err?: unknown }).err;
    const remark = typeof first === 'string' ? first : text;
    const fields = { ...(typeof remark === 'string' && { remark }), ...(err !== undefined && { err }) };
    log[level](fields, 'the HTTP server reports a problem');
  };
  const [warn, error] = [told('warn'), told('error')];
  const ignored = { trace: ignore, debug: ignore, info: ignore, silent: ignore };
  const logger: FastifyBaseLogger = { level: 'warn', ...ignored, warn, error, fatal: error, child: () => logger };
  return logger;
}
