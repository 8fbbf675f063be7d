import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type ClientLimits, createLimitedServer, type Listening, listen } from '@device-messaging/telemetry/health.ts';
import { createErrorFields, type SecretList } from '@device-messaging/telemetry/secrets.ts';
import { printableJson } from '@device-messaging/telemetry/text.ts';
import { z } from 'zod';
import { createPageFiles, type PageFiles } from '../../page/server/pageFiles.ts';
import { currentOf, renewed, type Secret } from '../access/secretFiles.ts';
import { currentTroubles, type Log, type LogLines } from '../observing/log.ts';
import { createTapLines } from '../observing/taps.ts';
import { jsonValue } from '../protocol/json.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { redactedSettings, secretsOf } from '../settings/secrets.ts';
import { fleetRoute } from './fleet.ts';

export interface AdminRoute {
  /** One sentence for `GET /`. */
  readonly about: string;
  /** The answer, which is printed as JSON, or a promise of it. @param authorization the header of who asks */
  get?(query: URLSearchParams, authorization?: string): unknown;
  /** @throws ZodError when the body is not as expected */
  put?(body: unknown): unknown;
  /** Writes its own answer, until the request is closed. */
  stream?(query: URLSearchParams, response: ServerResponse): void;
}

type Routes = Readonly<Record<string, AdminRoute>>;

/** In the image: programs are in `dist/programs`, the page is in `dist/page`. */
const pageDirectory = join(import.meta.dirname, '../page');

const newLevel = z.strictObject({ level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']) });

/** Opens the admin port. When it is taken, the program goes on without it: it is a help in trouble, and must cause none (D100). */
export async function openAdmin(
  settings: Settings | MethodsSettings,
  log: Log,
  about: object,
  routes: Routes,
  token: Secret = settings.admin.token,
): Promise<Pick<Listening, 'close'>> {
  const { host, port, instances } = settings.admin;
  const common: Routes = {
    ...(instances !== '' && { '/fleet': fleetRoute(instances) }),
    '/settings': { about: 'all settings in effect, without secrets', get: () => redactedSettings(settings) },
    '/troubles': troublesRoute(log, () => secretsOf(settings)),
    '/level': {
      about: 'the level of the log; PUT {"level": "debug"} changes it until the next start',
      get: () => ({ level: log.level, atStart: settings.log.level }),
      put(body) {
        const { level } = newLevel.parse(body);
        log.level = 'info'; // the line about it is written whatever the levels are
        log.info({ logLevel: level }, 'log level changed');
        log.level = level;
        return { level };
      },
    },
  };
  const page = createPageFiles(pageDirectory);
  try {
    const server = await startAdminServer({ host, port, token, about, page, routes: { ...common, ...routes } });
    log.info({ adminHost: host, adminPort: server.port }, 'the admin port is open');
    return server;
  } catch (error) {
    log.warn({ err: error, adminHost: host, adminPort: port }, 'the admin port cannot be opened');
    return { close: async () => {} };
  }
}

const mostTroubles = 100;

/** `GET /troubles`: what the log has said is wrong, and has not said is over. */
export function troublesRoute(log: LogLines, secrets: SecretList): AdminRoute {
  const fieldsOfError = createErrorFields(secrets);
  const lineOf = createTapLines(secrets);

  /** Errors of clients have requests in them: what is kept of them is what the log keeps, without the stack. */
  const plain = (value: unknown) => (value instanceof Error ? { ...fieldsOfError(value), stack: undefined } : value);

  return {
    about: 'what is wrong at the moment, as the log has it, and for how long',
    get() {
      const all = currentTroubles(log);
      const troubles = all.slice(0, mostTroubles).map(({ fields, ...trouble }) => {
        const entries = Object.entries(fields).map(([name, value]) => [name, plain(value)]);
        return { ...trouble, fields: JSON.parse(lineOf(Object.fromEntries(entries))) };
      });
      return { troubles, further: all.length - troubles.length };
    },
  };
}

interface AdminOptions {
  readonly host: string;
  readonly port: number;
  readonly token: Secret;
  /** What stands above the list of `GET /`. */
  readonly about: object;
  readonly routes: Routes;
  readonly page?: PageFiles | undefined;
  readonly limits?: ClientLimits;
}

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

/** The admin port: JSON for people and their tools. @throws Error that names the setting when the port is not available */
export async function startAdminServer(options: AdminOptions): Promise<Listening> {
  const { host, port, token, about, routes, page, limits } = options;
  const admit = createAdmission(token);
  const paths = Object.fromEntries(Object.entries(routes).map(([path, one]) => [methodsOf(one, path), one.about]));
  const withList: Routes = {
    '/': { about: 'this list', get: () => ({ ...about, paths, ...(page && { page: pagePath }) }) },
    ...routes,
  };

  async function answer(request: IncomingMessage, response: ServerResponse, takeTime: () => void): Promise<void> {
    const { method = '', url = '/' } = request;
    const [path = '', query = ''] = url.split('?', 2);
    const isOfPage = page !== undefined && `${path}/`.startsWith(pagePath) && method === 'GET';
    await admit(request, isOfPage);
    if (isOfPage && path.length < pagePath.length) return void response.writeHead(308, { location: pagePath }).end();
    const file = isOfPage ? await page(path.slice(pagePath.length)) : undefined;
    if (file) return void response.writeHead(200, file.headers).end(file.body);
    const route = Object.hasOwn(withList, path) ? withList[path] : undefined;
    const asked = new URLSearchParams(query);
    if (route === undefined) throw new BadRequest('there is no such path: GET / lists all', 404);
    if (method === 'GET' && route.stream) {
      route.stream(asked, response);
      takeTime();
    } else if (method === 'GET' && route.get)
      send(response, 200, await route.get(asked, request.headers.authorization));
    else if (method === 'PUT' && route.put) send(response, 200, route.put(await bodyOf(request)));
    else throw new BadRequest(`${path} has no ${method}`, 405);
  }

  const server = createLimitedServer((request, response, takeTime) => {
    response.on('error', () => {}); // the caller has gone
    answer(request, response, takeTime).catch((error: unknown) => {
      const { status, message } = refusalOf(error);
      send(response, status, { error: message });
    });
  }, limits);
  server.maxConnections = mostConnections;
  return listen(server, { host, port, settings: { host: 'ADMIN_HOST', port: 'ADMIN_PORT' } });
}

function refusalOf(error: unknown): BadRequest {
  if (error instanceof z.ZodError) return new BadRequest(z.prettifyError(error));
  return error instanceof BadRequest ? error : new BadRequest('this cannot be answered at the moment', 500);
}

/**
 * Without a token (an empty one) only programs on this machine can reach the port, and so can web pages in a browser here: a page has an
 * origin, or sends the name of its own host (DNS rebinding). @returns rejects with BadRequest; what is public, which tells nothing, needs no token
 */
function createAdmission(token: Secret) {
  const isToken = (given: string, expected: string) => timingSafeEqual(digestOf(given), digestOf(`Bearer ${expected}`));

  /** A token that is not the known one may be the next (D397). */
  async function isAccepted(given = ''): Promise<boolean> {
    const known = currentOf(token);
    return isToken(given, known) || isToken(given, await renewed(token, known));
  }

  return async ({ headers }: IncomingMessage, isPublic: boolean): Promise<void> => {
    const isOfPage = headers.origin !== undefined || /^(cross|same)-site$/.test(String(headers['sec-fetch-site']));
    const isOfThisMachine = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(headers.host ?? '');
    if (isOfPage || (token === '' && !isOfThisMachine))
      throw new BadRequest('web pages may not use the admin port', 403);
    if (token !== '' && !isPublic && !(await isAccepted(headers.authorization)))
      throw new BadRequest('a bearer token is needed: that of ADMIN_TOKEN', 401);
  };
}

/** Digests have one length, so that the comparison takes the same time for every text. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const methodsOf = ({ get, put, stream }: AdminRoute, path: string): string =>
  `${[...(get || stream ? ['GET'] : []), ...(put ? ['PUT'] : [])].join('|')} ${path}`;

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return void response.destroy();
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  response.writeHead(status, status === 401 ? { ...headers, 'www-authenticate': 'Bearer' } : headers);
  response.end(`${printableJson(JSON.stringify(body, null, 2))}\n`);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    throw new BadRequest('the body must be JSON, with content-type application/json', 415);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > mostBodyBytes) throw new BadRequest('the body is too large', 413);
    chunks.push(chunk);
  }
  const body = jsonValue(Buffer.concat(chunks).toString('utf8'));
  if (body === undefined) throw new BadRequest('the body is not JSON');
  return body;
}
