import { type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify';
import type { LogLines } from '../log/log.ts';
import type { Certificate } from './certificate.ts';
import { correlationOf } from './correlation.ts';
import { errorsOf, Failure } from './failure.ts';
import { createHttpServer } from './httpServer.ts';
import { endWith, rejectMalformedRequest } from './malformedRequest.ts';
import { readRequestBody } from './requestBody.ts';
import { checkHttp, isContinue } from './requestChecks.ts';
import type { InvocationRequest, RequestHandler } from './requestHandler.ts';
import { type Invocation, invocation } from './schemas.ts';
import { failureFrom } from './serverErrors.ts';
import { serverLog } from './serverLog.ts';

interface ServerOptions {
  readonly handler: RequestHandler;
  /** For `GET /openapi.json`. */
  readonly contract: object;
  /** PEM. Undefined: plain HTTP. */
  readonly tls?: Certificate | undefined;
  readonly log: LogLines;
}

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
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: maxSegmentLength },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
    frameworkErrors: (error, request, reply) => void fail(error, request, reply),
    clientErrorHandler: rejectMalformedRequest,
    serverFactory: (listener) => createHttpServer(listener, tls),
  });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', async ({ raw }: FastifyRequest) => {
    const bytes = await requests.get(raw)?.receive(raw);
    return bytes && readRequestBody(bytes);
  });
  server.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-correlation-id': request.id, 'cache-control': 'no-store' });
    checkHttp(request.raw);
  });
  server.addHook('onSend', async (_, reply) => {
    if (handler.isStopping()) reply.header('connection', 'close');
  });
  server.setErrorHandler(fail);
  server.setNotFoundHandler((request, reply) => fail(routeNotFound(), request, reply));
  server.server.on('connect', (_, socket) => endWith(routeNotFound(), socket)); // Node would close the connection

  for (const prefix of ['', '/v1']) {
    server.post<MethodRoute>(
      prefix + path,
      {
        schema: { body: invocation },
        async onRequest({ id, params, headers, raw }, reply) {
          const invocation = handler.begin({ correlationId: id, ...params }, headers['traceparent']);
          requests.set(raw, invocation);
          reply.raw.once('close', () =>
            invocation.closed(reply.raw.writableFinished ? reply.raw.statusCode : undefined),
          );
          await invocation.authorize(headers);
          if (isContinue(headers.expect)) reply.raw.writeContinue();
        },
      },
      async ({ body, raw }) => requests.get(raw)?.invoke(body),
    );
  }
  server.get('/openapi.json', async () => contract);

  function fail(error: unknown, request: Pick<FastifyRequest, 'id' | 'raw'>, reply: ErrorReply) {
    const failure = failureFrom(error, request.id, log);
    requests.get(request.raw)?.failed(failure);
    if (failure.status === 401) reply.header('www-authenticate', 'Bearer');
    if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
    return reply.header('x-correlation-id', request.id).code(failure.status).send(errorsOf(failure, request.id));
  }
  return server;
}

const routeNotFound = () =>
  new Failure(
    'route_not_found',
    'the paths are POST /objects/{objectId}/models/{model}/methods/{method}, and GET /openapi.json',
  );

type ErrorReply = Pick<FastifyReply, 'header' | 'code'>;
