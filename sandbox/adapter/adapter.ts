import { createRouter, type HttpListener, splitUrl } from 'iot-hub-emulator/http';
import { report } from '../backends/http/answered.ts';
import { serveHttp } from '../backends/http/backend.ts';
import { readText } from '../backends/http/text.ts';
import { forbidden, invalid, Problem, problemBody, unauthorized } from '../backends/requests/problem.ts';
import type { Answer, Application, Caller } from '../backends/routes/route.ts';
import type { Database, Sql } from './database.ts';
import { identityRoutes } from './sqlIdentities.ts';
import { objectRoutes } from './sqlObjects.ts';
import type { Route } from './sqlRoute.ts';
import { typeRoutes } from './sqlTypes.ts';

export interface AdapterOptions {
  readonly database: Database;
  /** Of information model, type registry and principal manager; free ones when absent. */
  readonly ports?: readonly [number, number, number];
  /** Whose a bearer token is; undefined: nobody's. */
  readonly read: (token: string) => 'service' | Application | undefined;
}

/** The three backends over a relational database, on the loopback interface. */
export async function startAdapter({ database, ports = [0, 0, 0], read }: AdapterOptions) {
  const closing = new AbortController();
  const serve = (backend: string, port: number, routes: readonly Route[]): Promise<HttpListener> => {
    const find = createRouter(routes);
    return serveHttp(port, closing.signal, async (request) => {
      const text = await readText(request);
      const { method = '', url = '', headers } = request;
      const { path, query } = splitUrl(url);

      async function decide(sql: Sql): Promise<Answer> {
        const { authorization } = headers;
        const who = read(/^bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? '');
        if (who === undefined) throw unauthorized(authorization);
        const { route, params, ...none } = find(method, path);
        if (!route)
          throw new Problem(
            'allowed' in none && none.allowed.length > 0 ? 405 : 404,
            'No such route',
            'there is no such route or method',
          );
        const device = headers['x-svc-device-id']?.toString();
        if (who !== 'service') {
          if (device !== undefined) throw forbidden('an application does not speak for a device');
          if (!route.handleForApplication) throw forbidden('an application only reads object models');
          const operation = headers['x-svc-operation']?.toString();
          return route.handleForApplication({ sql, application: who, params, operation });
        }
        if (text instanceof Problem) throw text;
        const caller = await callerOf(sql, device);
        const run = () => route.handle({ sql, caller, params, query: new URLSearchParams(query), text });
        const key = headers['idempotency-key']?.toString();
        if (method === 'GET' || route.isSafe || key === undefined) return run();
        return once(sql, [backend, caller.deviceId, key], `${method} ${url}`, run);
      }

      return refusing(() => database.transaction(decide));
    });
  };
  const [im, tr, pm] = await Promise.all([
    serve('information model', ports[0], objectRoutes),
    serve('type registry', ports[1], typeRoutes),
    serve('principal manager', ports[2], identityRoutes),
  ]);
  return {
    urls: { 'information-model': im.url, 'type-registry': tr.url, 'principal-manager': pm.url },
    async close(): Promise<void> {
      closing.abort();
      await Promise.all([im, tr, pm].map((listener) => listener.close()));
      await database.close();
    },
  };
}

async function callerOf(sql: Sql, header: string | undefined): Promise<Caller> {
  if (!header) throw invalid('the header x-svc-device-id is missing');
  let deviceId: string;
  try {
    deviceId = decodeURIComponent(header);
  } catch {
    throw invalid('x-svc-device-id is not percent-encoded');
  }
  const { rows } = await sql.query('select id, tenant, path from identities where path = $1 and parent_id is null', [
    deviceId,
  ]);
  if (!rows[0]) throw forbidden('the device has no identity');
  const { id, tenant, path } = rows[0];
  return { deviceId, tenant, identity: { id, path } };
}

/** The answer to a mutation is stored with its effect: both are there, or neither. */
async function once(
  sql: Sql,
  key: readonly [string, string, string],
  request: string,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const { rows } = await sql.query(
    'select request, status, body from answers where backend = $1 and device = $2 and key = $3',
    [...key],
  );
  const [known] = rows;
  if (known && known.request !== request)
    throw new Problem(422, 'Idempotency key reused', 'the idempotency-key was used for another request');
  if (known) return { status: known.status, ...(known.body !== null && { body: known.body }) };
  await sql.query('savepoint effect');
  const answer = await refusing(run, () => sql.query('rollback to effect'));
  const values = [...key, request, answer.status, answer.body ?? null];
  await sql.query(
    'insert into answers (backend, device, key, request, status, body) values ($1, $2, $3, $4, $5, $6)',
    values,
  );
  return answer;
}

/** PostgreSQL's data_exception, such as \u0000 in a text, and program_limit_exceeded: as wrong when it is called again. */
const isUnfit = (error: unknown): boolean => /^(22|54)/.test(String(Object(error).code));
const unfit = invalid('a value cannot be stored or looked up');

/** A refusal is an answer. A defect, or a database that is out, is 503 where it is not handed on: the service calls again. */
async function refusing(run: () => Promise<Answer>, undo?: () => Promise<unknown>): Promise<Answer> {
  try {
    return await run();
  } catch (error) {
    const problem = error instanceof Problem ? error : isUnfit(error) ? unfit : undefined;
    if (problem) {
      await undo?.();
      const { status, headers } = problem;
      return { status, body: problemBody(problem), ...(headers && { headers }) };
    }
    if (undo) throw error;
    report(error);
    return { status: 503, body: problemBody(new Problem(503, 'Unavailable', 'the database cannot be used')) };
  }
}
