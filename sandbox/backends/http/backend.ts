import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Applications } from '../applications.ts';
import type { BackendName, Faults } from '../faults.ts';
import type { Journal } from '../journal.ts';
import { type Caller, callerOf } from '../principalManager/caller.ts';
import type { Tokens } from '../tokens.ts';
import type { World } from '../world/world.ts';
import { answered, orRefusal, report } from './answered.ts';
import { type Listener, listen, readText } from './listen.ts';
import { forbidden, invalid, Problem, unauthorized } from './problem.ts';
import { type Answer, createRouter, type Route, splitUrl } from './routes.ts';
import { send, strike } from './strike.ts';

/** What all backends share. */
export interface Surroundings {
  readonly world: World;
  readonly tokens: Tokens;
  readonly applications: Applications;
  readonly faults: Faults;
  readonly journal: Journal;
  readonly closing: AbortSignal;
}

const JOURNALLED = [
  'x-svc-device-id',
  'x-svc-operation',
  'x-correlation-id',
  'traceparent',
  'idempotency-key',
  'content-type',
] as const;

function headersThatMatter(request: IncomingMessage): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of JOURNALLED) {
    const value = request.headers[name];
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Serves one backend's routes: token, route, caller (a device or an application), idempotency, effect, journal and faults. */
export async function serveBackend(
  backend: BackendName,
  port: number,
  routes: readonly Route[],
  { world, tokens, applications, faults, journal, closing }: Surroundings,
): Promise<Listener> {
  const match = createRouter(routes);

  function decide(request: IncomingMessage, deviceId: string | undefined, text: string): Answer {
    const { method = '', url = '' } = request;
    const { path, query } = splitUrl(url);
    const { authorization } = request.headers;
    const isService = tokens.accepts(authorization);
    const application = isService ? undefined : applications.read(authorization);
    if (!isService && !application) throw unauthorized(authorization);
    const { route, params } = match(method, path);
    if (application) {
      if (deviceId !== undefined) throw forbidden('an application does not speak for a device');
      if (!route.handleForApplication) throw forbidden('an application only reads object models');
      const operation = request.headers['x-svc-operation'];
      return route.handleForApplication({ application, params, operation: operation?.toString() });
    }
    const caller: Caller = callerOf(world.principals, deviceId);
    const run = () => route.handle({ caller, params, query: new URLSearchParams(query), text });
    const key = request.headers['idempotency-key'];
    if (method === 'GET' || route.isSafe || typeof key !== 'string') return run();
    const mutation = { backend, deviceId: caller.deviceId, key, method, path: url };
    return world.idempotency.once(mutation, () => orRefusal(run));
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request);
    if (text === undefined) return;
    const { method = '', url = '' } = request;
    const header = request.headers['x-svc-device-id'];
    const deviceId = typeof header === 'string' ? decode(header) : undefined;
    const entry = journal.open({
      backend,
      deviceId,
      method,
      path: url,
      headers: headersThatMatter(request),
      body: text instanceof Problem ? '' : text,
    });
    const decideNow = (): Answer => {
      const answer = answered(() => {
        if (text instanceof Problem) throw text;
        if (header !== undefined && deviceId === undefined) throw invalid('x-svc-device-id is not percent-encoded');
        return decide(request, deviceId, text);
      });
      world.commit();
      return answer;
    };
    const { path } = splitUrl(url);
    const fault = faults.strike({ backend, method, path: decode(path) ?? path, deviceId });
    if (fault) await strike(fault, response, entry, decideNow, closing);
    else send(response, entry, decideNow(), text instanceof Problem ? { connection: 'close' } : {});
  }

  return listen(port, (request, response) => {
    serve(request, response).catch((error: unknown) => {
      response.destroy();
      if (!closing.aborted) report(error);
    });
  });
}
