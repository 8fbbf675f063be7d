import type { IncomingMessage, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HubCore } from '../core/core.ts';
import { readBody } from '../http/body.ts';
import { type Answer, createHttpServer, type Unanswered } from '../http/httpServer.ts';
import { createRouter, splitUrl } from '../http/routes.ts';
import { certificatesOf } from '../network/clientCertificates.ts';
import { isApiVersion } from '../values/apiVersion.ts';
import { type Json, parseJson, writeJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { bulkRoute } from './bulk.ts';
import { commandRoutes } from './commands.ts';
import { configurationRoutes } from './configurationRoutes.ts';
import { deviceRoutes } from './deviceMessages.ts';
import { codeOf, errorAnswer } from './errors.ts';
import { identityRoutes } from './identities.ts';
import { jobRoutes } from './jobRoutes.ts';
import { methodRoutes } from './methodRoutes.ts';
import { notImitated } from './notImitated.ts';
import type { DeviceRoute, RestAnswer, Route } from './request.ts';
import { statisticsRoutes } from './statistics.ts';
import { twinRoutes } from './twinRoutes.ts';
import { uploadRoutes } from './uploadRoutes.ts';

const routes = [
  ...[...identityRoutes, bulkRoute, ...twinRoutes, ...methodRoutes],
  ...[...commandRoutes, ...statisticsRoutes, ...jobRoutes, ...configurationRoutes],
];
const find = createRouter<Route | DeviceRoute>([...routes, ...deviceRoutes, ...uploadRoutes], { ignoreCase: true });
const maxBody = 1024 * 1024;

/** What services and devices ask over HTTPS: registry, twins, methods, queues; messages. Not listening: give it connections. */
export function createRestServer(hub: HubCore): Server {
  const server = createHttpServer({
    keepAliveMs: 120_000,
    headersMs: hub.idle.beginning,
    explain: (error) => written(failure(error)),
    async serve(request) {
      const { method = '', url = '' } = request;
      const { answer, ms = 1000, status = 500, code } = hub.faults.strike('rest', { method, path: url })?.fault ?? {};
      if (answer === 'silent' || answer === 'reset') return answer;
      if (answer === 'status')
        return written(errorAnswer(status, code ?? 'InternalServerError', 'A fault of the sandbox hub.'));
      if (answer === 'delay') await sleep(ms);
      const answered = await respond(hub, request);
      return typeof answered === 'string' ? answered : written(answered);
    },
  });
  server.emit('listening'); // Node begins to watch for unfinished requests then; `close` ends that
  return server;
}

async function respond(hub: HubCore, request: IncomingMessage): Promise<RestAnswer | Unanswered> {
  const { method = '', url = '', headers } = request;
  const { path, query: search } = splitUrl(url);
  const { route, params } = find(method, path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);
  const missing = route ? undefined : notImitated(path);
  if (missing) return errorAnswer(501, 'NotImplemented', `This hub does not imitate ${missing}.`);
  if (!route) return errorAnswer(404, 'NotFound', `There is no ${method} ${path}.`);
  const { device = '', module, subject = '' } = params;
  const query = new URLSearchParams(search);
  if (!('rights' in route)) {
    const credentials = { token: headers.authorization, certificates: certificatesOf(request.socket) };
    const login = hub.access.login(device, undefined, credentials);
    checkVersion(query);
    return await route.handle({ hub, login, request, query, subject, body: await bytesOf(request) });
  }
  try {
    const claim = hub.access.claim(headers.authorization ?? '', `localhost${path}`);
    if (!route.rights.some((right) => claim.rights.has(right)))
      throw new Refusal('amqp:unauthorized-access', `The policy ${claim.policy} does not allow this.`);
    checkVersion(query);
    if (route.counts) hub.throttle.take(route.counts);
    return await route.handle({ hub, device, module, subject, query, headers, body: await bodyOf(request) });
  } catch (error) {
    if (error instanceof Refusal && route.refuse && !hub.otherwise.has('methods.error-form'))
      return route.refuse(error, hub.otherwise);
    throw error;
  }
}

function checkVersion(query: URLSearchParams): void {
  if (!isApiVersion(query.get('api-version')))
    throw new Refusal('com.microsoft:invalid-protocol-version', 'The api-version is none that IoT Hub has.');
}

const bytesOf = (request: IncomingMessage): Promise<Buffer> => readBody(request, maxBody, tooLarge);

async function bodyOf(request: IncomingMessage): Promise<Json | undefined> {
  const bytes = await bytesOf(request);
  return bytes.length === 0 ? undefined : parseJson(bytes.toString('utf8'));
}

const tooLarge = () => new Refusal('com.microsoft:argument-error', 'The body is too large.');

function failure(error: unknown): RestAnswer {
  if (!(error instanceof Refusal)) return errorAnswer(500, 'InternalServerError', 'The hub failed to answer.');
  const { status, code } = codeOf(error);
  return errorAnswer(status, code, error.message);
}

/** @throws RangeError when the body, which may be a device's, is nested too deep to be written */
function written({ status, body, text: given, bytes, headers = {} }: RestAnswer): Answer {
  if (bytes) return { status, headers, bytes };
  const text = given ?? (body === undefined ? undefined : writeJson(body));
  return text === undefined ? { status, headers } : { status, headers, body: text };
}
