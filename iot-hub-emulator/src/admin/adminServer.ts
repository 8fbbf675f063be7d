import type { Server } from 'node:http';
import type { z } from 'zod';
import { readBody } from '../http/body.ts';
import { type Answer, createHttpServer, isLocal } from '../http/httpServer.ts';
import { createRouter, splitUrl } from '../http/routes.ts';
import { parseJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { hasToken } from './adminToken.ts';
import { type AdminHub, createHandlers } from './handlers.ts';
import { type Operation, type OperationId, operations } from './operations.ts';

const maxBody = 512 * 1024;
const statusOf: Readonly<Record<string, number>> = {
  'amqp:not-found': 404,
  'admin:no-token': 401,
  'amqp:unauthorized-access': 403,
  'com.microsoft:device-already-exists': 409,
  'amqp:resource-limit-exceeded': 429,
  'com.microsoft:server-busy': 429,
};
const routes = Object.entries<Operation>(operations).map(([id, operation]) => ({
  ...operation,
  id: id as OperationId,
}));
const find = createRouter(routes);
const described = Object.fromEntries(
  routes.map(({ method, path, query, summary }) => [`${method} ${path}${queryText(query)}`, summary]),
);

/** The hub's admin interface over HTTP; JSON in and out, errors as {error: sentence}. Not listening yet. */
export function createAdmin(hub: AdminHub): Server {
  const handlers = createHandlers({ ...hub, describe: () => ({ ...hub.describe(), routes: described }) });
  return createHttpServer({
    keepAliveMs: 1000,
    headersMs: hub.headersMs,
    explain,
    async serve(request, response) {
      if (!isLocal(request, hub.hostNames))
        throw new Refusal(
          'amqp:unauthorized-access',
          'Only programs may ask, by a name of this hub (--name), and no web page.',
        );
      if (hub.token !== undefined && !hasToken(request, hub.token))
        throw new Refusal('admin:no-token', 'This port is open to other machines: send Authorization: Bearer TOKEN.');
      const { method = '', url = '' } = request;
      const { path, query } = splitUrl(url);
      const { route, params } = find(method, path);
      if (!route) throw new Refusal('amqp:not-found', `There is no ${method} ${path}. GET / lists what there is.`);
      const body = route.body && parseJson((await readBody(request, maxBody, tooLarge)).toString('utf8'));
      const call = { id: params['id'] ?? '', query: new URLSearchParams(query), body, request, response };
      const answer = await handlers[route.id](call);
      return answer === 'written' ? answer : json(answer.status, answer.body);
    },
  });
}

const tooLarge = () => new Refusal('com.microsoft:argument-error', 'The body is larger than 512 KB.');

function explain(error: unknown): Answer {
  if (error instanceof Refusal) return json(statusOf[error.condition] ?? 400, { error: error.message });
  return json(500, { error: 'The hub failed to answer this request.' });
}

const json = (status: number, body: unknown): Answer =>
  body === undefined ? { status } : { status, body: `${JSON.stringify(body, undefined, 2)}\n` };

// ?since=&deviceId=
function queryText(query: z.ZodObject | undefined): string {
  return query ? `?${Object.keys(query.shape).join('=&')}=` : '';
}
