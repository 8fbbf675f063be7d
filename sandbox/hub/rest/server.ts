import { createServer, type IncomingMessage, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HubCore } from '../core/core.ts';
import { reset } from '../network/listener.ts';
import { type Json, parseJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { bulkRoute } from './bulk.ts';
import { codeOf, errorAnswer } from './errors.ts';
import { identityRoutes } from './identities.ts';
import { methodRoutes } from './methods.ts';
import type { RestAnswer, Route, Unanswered } from './request.ts';
import { twinRoutes } from './twins.ts';

const routes: readonly Route[] = [...identityRoutes, bulkRoute, ...twinRoutes, ...methodRoutes];
const maxBody = 1024 * 1024;

/** What services ask over HTTPS: registry, twins, methods. Not listening: give it connections. */
export function createRestServer(hub: HubCore): Server {
  // Not shorter than what clients keep idle connections for: one that reuses a connection that ends just then fails.
  return createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const { method = '', url = '' } = request;
    const struck = hub.faults.strike('rest', { method, path: url });
    const { answer, ms = 1000, status = 500, code = 'InternalServerError' } = struck?.fault ?? {};
    if (answer === 'silent') return;
    if (answer === 'reset') return reset(request.socket);
    const answering: Promise<RestAnswer | Unanswered> =
      answer === 'status'
        ? Promise.resolve(errorAnswer(status, code, 'A fault of the sandbox hub.'))
        : sleep(answer === 'delay' ? ms : 0).then(() => respond(hub, request));
    const writing = answering.then(written).catch((error: unknown) => written(failure(error)));
    void writing.then((made) => {
      if (made === 'reset') reset(request.socket);
      else if (made !== 'silent') response.writeHead(made.status, made.headers).end(made.text);
    });
  });
}

async function respond(hub: HubCore, request: IncomingMessage): Promise<RestAnswer | Unanswered> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'https://localhost');
  const found = find(request.method ?? '', pathname.replace(/^\/|\/$/g, '').split('/'));
  if (!found) return errorAnswer(404, 'NotFound', `There is no ${request.method} ${pathname}.`);
  const { route, device = '', module } = found;
  try {
    const claim = hub.access.claim(request.headers.authorization ?? '', `localhost${pathname}`);
    if (!route.rights.some((right) => claim.rights.has(right)))
      throw new Refusal('amqp:unauthorized-access', `The policy ${claim.policy} does not allow this.`);
    if (!query.has('api-version')) throw new Refusal('com.microsoft:argument-error', 'There is no api-version.');
    if (route.counts) hub.throttle.take(route.counts);
    return await route.handle({ hub, device, module, query, headers: request.headers, body: await bodyOf(request) });
  } catch (error) {
    if (error instanceof Refusal && route.refuse) return route.refuse(error);
    throw error;
  }
}

function find(method: string, path: string[]): { route: Route; device?: string; module?: string } | undefined {
  for (const route of routes) {
    const form = route.path.split('/');
    const ids: { device?: string; module?: string } = {};
    const fits = form.every((segment, i) => {
      const given = path[i];
      if (given === undefined) return false;
      if (segment === '{device}') ids.device = decode(given);
      else if (segment === '{module}') ids.module = decode(given);
      else return segment === given.toLowerCase();
      return given !== '';
    });
    if (fits && form.length === path.length && route.method === method) return { route, ...ids };
  }
  return undefined;
}

async function bodyOf(request: IncomingMessage): Promise<Json | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) throw new Refusal('com.microsoft:argument-error', 'The body is too large.');
    chunks.push(chunk);
  }
  return size === 0 ? undefined : parseJson(Buffer.concat(chunks).toString('utf8'));
}

function failure(error: unknown): RestAnswer {
  if (!(error instanceof Refusal)) return errorAnswer(500, 'InternalServerError', 'The hub failed to answer.');
  const { status, code } = codeOf(error);
  return errorAnswer(status, code, error.message);
}

interface Written {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string | undefined;
}

/** @throws RangeError when the body, which may be a device's, is nested too deep to be written */
function written(made: RestAnswer | Unanswered): Written | Unanswered {
  if (typeof made === 'string') return made;
  const { status, body, garbage, headers = {} } = made;
  const text = garbage ?? (body === undefined ? undefined : JSON.stringify(body));
  return { status, text, headers: text === undefined ? headers : { ...headers, 'content-type': 'application/json' } };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
