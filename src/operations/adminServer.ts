import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ClientLimits, createLimitedServer, type Listening, listen } from 'telemetry/listening.ts';
import { printableJson } from 'telemetry/printable.ts';
import { z } from 'zod';
import type { PageFiles } from '../../page/server/pageFiles.ts';
import type { Secret } from '../identity/secretFiles.ts';
import { createAdminAccess } from './adminAccess.ts';

/** The admin port: JSON for people and their tools. */
export type AdminServer = Listening;

/** What can be asked on one path. */
export interface AdminRoute {
  /** One sentence for `GET /`. */
  readonly about: string;
  /** The answer, which is printed as JSON, or a promise of it. */
  get?(query: URLSearchParams): unknown;
  /** @throws ZodError when the body is not as expected */
  put?(body: unknown): unknown;
  /** Writes its own answer, until the request is closed. */
  stream?(query: URLSearchParams, response: ServerResponse): void;
}

interface AdminOptions {
  readonly host: string;
  readonly port: number;
  readonly token: Secret;
  /** What stands above the list of `GET /`. */
  readonly about: object;
  /** By path. */
  readonly routes: Readonly<Record<string, AdminRoute>>;
  /** The web page, below `/page/`. */
  readonly page?: PageFiles | undefined;
  readonly limits?: ClientLimits;
}

/** A request that cannot be answered; the message is for the caller. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

const pagePath = '/page/';
const mostBodyBytes = 1_024;
const mostConnections = 32;

/** @throws Error that names the setting when the port is not available */
export async function startAdminServer(options: AdminOptions): Promise<AdminServer> {
  const { host, port, token, about, routes, page, limits } = options;
  const access = createAdminAccess(token);
  const listed = Object.fromEntries(
    Object.entries(routes).map(([path, route]) => [methodsOf(route, path), route.about]),
  );
  const withList: Readonly<Record<string, AdminRoute>> = {
    '/': { about: 'this list', get: () => ({ ...about, paths: listed, ...(page && { page: pagePath }) }) },
    ...routes,
  };

  async function answer(request: IncomingMessage, response: ServerResponse, takeTime: () => void): Promise<void> {
    const { method = '', url = '/' } = request;
    const [path = '', query = ''] = url.split('?', 2);
    const isOfPage = page !== undefined && `${path}/`.startsWith(pagePath) && method === 'GET';
    const refused = await access(request, isOfPage);
    if (refused) return send(response, refused.status, { error: refused.error });
    if (isOfPage && path.length < pagePath.length) return void response.writeHead(308, { location: pagePath }).end();
    const file = isOfPage ? await page(path.slice(pagePath.length)) : undefined;
    if (file) return void response.writeHead(200, file.headers).end(file.body);
    const route = Object.hasOwn(withList, path) ? withList[path] : undefined;
    const asked = new URLSearchParams(query);
    if (route === undefined) throw new BadRequest('there is no such path: GET / lists all', 404);
    if (method === 'GET' && route.stream) {
      route.stream(asked, response);
      takeTime();
    } else if (method === 'GET' && route.get) send(response, 200, await route.get(asked));
    else if (method === 'PUT' && route.put) send(response, 200, route.put(await bodyOf(request)));
    else throw new BadRequest(`${path} has no ${method}`, 405);
  }

  const server = createLimitedServer((request, response, takeTime) => {
    response.on('error', () => {}); // the caller has gone
    answer(request, response, takeTime).catch((error: unknown) => {
      if (error instanceof z.ZodError) send(response, 400, { error: z.prettifyError(error) });
      else if (error instanceof BadRequest) send(response, error.status, { error: error.message });
      else send(response, 500, { error: 'this cannot be answered at the moment' });
    });
  }, limits);
  server.maxConnections = mostConnections;
  return listen(server, { host, port, settings: { host: 'ADMIN_HOST', port: 'ADMIN_PORT' } });
}

function methodsOf({ get, put, stream }: AdminRoute, path: string): string {
  const methods = [...(get || stream ? ['GET'] : []), ...(put ? ['PUT'] : [])];
  return `${methods.join('|')} ${path}`;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return void response.destroy();
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  response.writeHead(status, status === 401 ? { ...headers, 'www-authenticate': 'Bearer' } : headers);
  response.end(`${printableJson(JSON.stringify(body, null, 2))}\n`);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    throw new BadRequest('the body must be JSON, with content-type application/json', 415);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > mostBodyBytes) throw new BadRequest('the body is too large', 413);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new BadRequest('the body is not JSON');
  }
}
