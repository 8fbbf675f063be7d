import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify';
import { readBody } from './body.ts';
import { correlationOf } from './correlation.ts';
import { refuseDamaged } from './damaged.ts';
import type { Asked, Door } from './door.ts';
import { errorsOf, Failure } from './failure.ts';
import { failureOf } from './refusals.ts';
import { type Invocation, invocation } from './schemas.ts';

interface ServerOptions {
  readonly door: Door;
  /** What `GET /openapi.json` answers. */
  readonly contract: object;
  /** PEM; plain HTTP without. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly log: FastifyBaseLogger;
}

/** A body that is larger cannot become a payload that fits the hub, but for white space and escapes (M3). */
const maxBodyBytes = 256 * 1024;
/** A request must have come in whole within so many ms; looking its object up may take ten seconds of these. */
const wholeWithinMs = 30_000;
/** A model identifier of 256 characters, percent-encoded. */
const longestSegment = 3 * 4 * 256;

const path = '/objects/:objectId/models/:model/methods/:method';

interface Invoking {
  readonly Params: Readonly<Record<'objectId' | 'model' | 'method', string>>;
  readonly Body: Invocation;
}

/** The HTTP interface (M1): it validates without coercing or dropping anything. Not listening yet. */
export function createServer({ door, contract, tls, log }: ServerOptions) {
  const courses = new WeakMap<object, Asked>();
  const server = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => correlationOf(headers['x-correlation-id']),
    bodyLimit: maxBodyBytes,
    requestTimeout: wholeWithinMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: longestSegment },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
    frameworkErrors: (error, request, reply) => void fail(error, request, reply),
    clientErrorHandler: refuseDamaged,
    https: tls === undefined ? null : { ...tls, minVersion: 'TLSv1.2' },
  });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: unknown, bytes: Buffer) =>
    readBody(bytes),
  );
  server.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-correlation-id': request.id, 'cache-control': 'no-store' });
  });
  server.addHook('onSend', async (_, reply) => {
    if (door.isStopping()) reply.header('connection', 'close');
  });
  server.setErrorHandler(fail);
  server.setNotFoundHandler((request, reply) => {
    const sentence = 'there is POST /objects/{objectId}/models/{model}/methods/{method}, and GET /openapi.json';
    return fail(new Failure('route_not_found', sentence), request, reply);
  });

  for (const prefix of ['', '/v1']) {
    server.post<Invoking>(
      prefix + path,
      {
        schema: { body: invocation },
        async onRequest({ id, params, headers }, reply) {
          const asked = door.ask({ correlationId: id, ...params });
          courses.set(reply.raw, asked);
          reply.raw.once('close', () => asked.closed(reply.raw.writableFinished ? reply.raw.statusCode : undefined));
          await asked.admit(headers);
        },
      },
      async ({ body }, reply) => courses.get(reply.raw)?.invoke(body),
    );
  }
  server.get('/openapi.json', async () => contract);

  function fail(error: unknown, request: Pick<FastifyRequest, 'id'>, reply: Answering) {
    const failure = failureOf(error, request.id, log);
    courses.get(reply.raw)?.failed(failure);
    if (failure.status === 401) reply.header('www-authenticate', 'Bearer');
    if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
    return reply.header('x-correlation-id', request.id).code(failure.status).send(errorsOf(failure, request.id));
  }
  return server;
}

type Answering = Pick<FastifyReply, 'raw' | 'header' | 'code'>;
