import { type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify';
import type { LogLines } from '../log/log.ts';
import { correlationOf } from './correlation.ts';
import { errorsOf, Failure } from './failure.ts';
import { rejectMalformedRequest } from './malformedRequest.ts';
import { readRequestBody } from './requestBody.ts';
import type { InvocationRequest, RequestHandler } from './requestHandler.ts';
import { type Invocation, invocation } from './schemas.ts';
import { failureFrom } from './serverErrors.ts';
import { serverLog } from './serverLog.ts';

interface ServerOptions {
  readonly handler: RequestHandler;
  /** For `GET /openapi.json`. */
  readonly contract: object;
  /** PEM. Undefined: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly log: LogLines;
}

/** The payload limit (M3) with as much again for white space and escapes. */
const maxBodyBytes = 256 * 1024;
/** For receiving the complete request, including ten seconds for look-ups before its body is read. */
const receiveTimeoutMs = 30_000;
/** A model identifier of 256 characters, percent-encoded. */
const maxSegmentLength = 3 * 4 * 256;

const path = '/objects/:objectId/models/:model/methods/:method';

interface MethodRoute {
  readonly Params: Readonly<Record<'objectId' | 'model' | 'method', string>>;
  readonly Body: Invocation;
}

/** The HTTP interface (M1). Validates without changing the body. Does not listen yet. */
export function createServer({ handler, contract, tls, log }: ServerOptions) {
  const requests = new WeakMap<object, InvocationRequest>();
  const server = fastify({
    loggerInstance: serverLog(log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => correlationOf(headers['x-correlation-id']),
    bodyLimit: maxBodyBytes,
    requestTimeout: receiveTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: maxSegmentLength },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
    frameworkErrors: (error, request, reply) => void fail(error, request, reply),
    clientErrorHandler: rejectMalformedRequest,
    https: tls === undefined ? null : { ...tls, minVersion: 'TLSv1.2' },
  });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: unknown, bytes: Buffer) =>
    readRequestBody(bytes),
  );
  server.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-correlation-id': request.id, 'cache-control': 'no-store' });
  });
  server.addHook('onSend', async (_, reply) => {
    if (handler.isStopping()) reply.header('connection', 'close');
  });
  server.setErrorHandler(fail);
  server.setNotFoundHandler((request, reply) => {
    const detail = 'the paths are POST /objects/{objectId}/models/{model}/methods/{method}, and GET /openapi.json';
    return fail(new Failure('route_not_found', detail), request, reply);
  });

  for (const prefix of ['', '/v1']) {
    server.post<MethodRoute>(
      prefix + path,
      {
        schema: { body: invocation },
        async onRequest({ id, params, headers }, reply) {
          const invocation = handler.begin({ correlationId: id, ...params });
          requests.set(reply.raw, invocation);
          reply.raw.once('close', () =>
            invocation.closed(reply.raw.writableFinished ? reply.raw.statusCode : undefined),
          );
          await invocation.authorize(headers);
        },
      },
      async ({ body }, reply) => requests.get(reply.raw)?.invoke(body),
    );
  }
  server.get('/openapi.json', async () => contract);

  function fail(error: unknown, request: Pick<FastifyRequest, 'id'>, reply: ErrorReply) {
    const failure = failureFrom(error, request.id, log);
    requests.get(reply.raw)?.failed(failure);
    if (failure.status === 401) reply.header('www-authenticate', 'Bearer');
    if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
    return reply.header('x-correlation-id', request.id).code(failure.status).send(errorsOf(failure, request.id));
  }
  return server;
}

type ErrorReply = Pick<FastifyReply, 'raw' | 'header' | 'code'>;
