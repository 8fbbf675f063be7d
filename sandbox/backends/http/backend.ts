import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Answer,
  createHttpServer,
  type HttpListener,
  listenHttp,
  splitUrl,
  type Unanswered,
} from 'iot-hub-emulator/http';
import type { Journal } from 'iot-hub-emulator/journal';
import { recordCall } from '../calls/calls.ts';
import type { BackendName, Faults } from '../calls/faults.ts';
import type { Applications } from '../credentials/applications.ts';
import type { Tokens } from '../credentials/tokens.ts';
import { callerOf } from '../principalManager/caller.ts';
import { forbidden, invalid, Problem, unauthorized } from '../requests/problem.ts';
import type { Caller, Route } from '../routes/route.ts';
import type { World } from '../world/world.ts';
import { answerAsFaulted } from './answerAsFaulted.ts';
import { answered, orRefusal, report } from './answered.ts';
import { createMatcher } from './matcher.ts';
import { readText } from './text.ts';

/** What all backends share. */
export interface BackendContext {
  readonly world: World;
  readonly tokens: Tokens;
  /** Tokens of the service that somebody else has issued. */
  readonly accepts: (backend: BackendName, token: string) => boolean;
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

/** Listens with what `serve` answers; a defect resets its connection and goes to standard error. */
export function serveHttp(
  port: number,
  closing: AbortSignal,
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<Answer | Unanswered>,
): Promise<HttpListener> {
  const explain = (error: unknown): Unanswered => {
    if (!closing.aborted) report(error);
    return 'reset';
  };
  return listenHttp(createHttpServer({ keepAliveMs: 65_000, serve, explain }), port);
}

/** Serves one backend's routes: token, route, caller (a device or an application), idempotency, effect, journal and faults. */
export function serveBackend(
  backend: BackendName,
  port: number,
  routes: readonly Route[],
  { world, tokens, accepts, applications, faults, journal, closing }: BackendContext,
): Promise<HttpListener> {
  const match = createMatcher(routes);

  function decide(request: IncomingMessage, deviceId: string | undefined, text: string): Answer {
    const { method = '', url = '' } = request;
    const { path, query } = splitUrl(url);
    const { authorization } = request.headers;
    const isService = tokens.accepts(authorization) || accepts(backend, authorization?.replace(/^bearer /i, '') ?? '');
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

  return serveHttp(port, closing, async (request, response) => {
    const text = await readText(request);
    const { method = '', url = '' } = request;
    const { path } = splitUrl(url);
    const headers = headersThatMatter(request);
    const { 'x-svc-device-id': device, 'x-correlation-id': correlation } = headers;
    const deviceId = device === undefined ? undefined : decode(device);
    const fault = faults.strike({ backend, method, path: decode(path) ?? path, deviceId });
    const recordAnswer = recordCall(journal, {
      server: backend,
      deviceId,
      correlationId: correlation && (decode(correlation) ?? correlation),
      method,
      path: url,
      headers,
      body: text instanceof Problem ? '' : text,
      ...(fault && { fault: fault.id }),
    });
    const decideNow = (): Answer => {
      const answer = answered(() => {
        if (text instanceof Problem) throw text;
        if (device !== undefined && deviceId === undefined) throw invalid('x-svc-device-id is not percent-encoded');
        return decide(request, deviceId, text);
      });
      world.commit();
      return answer;
    };
    const withheld = ({ body }: Answer) => recordAnswer(null, body ?? null);
    const answer = fault
      ? await answerAsFaulted(fault, { response, decide: decideNow, onWithheld: withheld, closing })
      : decideNow();
    if (typeof answer === 'string') return answer;
    recordAnswer(answer.status, answer.body ?? null);
    return text instanceof Problem ? { ...answer, headers: { ...answer.headers, connection: 'close' } } : answer;
  });
}
