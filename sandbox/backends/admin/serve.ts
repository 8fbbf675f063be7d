import type { IncomingMessage, ServerResponse } from 'node:http';
import { answered, report } from '../http/answered.ts';
import type { Surroundings } from '../http/backend.ts';
import { type Listener, listen, readText } from '../http/listen.ts';
import { Problem } from '../http/problem.ts';
import { createRouter, splitUrl } from '../http/routes.ts';
import { reply, send, strike } from '../http/strike.ts';
import { adminRoutes } from './routes.ts';

const TOKEN_PATH = '/oauth2/token';

/** Serves the admin port: administration without a token, and the token endpoint that the backends' clients use. */
export function serveAdmin(port: number, surroundings: Surroundings): Promise<Listener> {
  const { world, tokens, faults, journal, closing } = surroundings;
  const match = createRouter(adminRoutes(surroundings));

  /** The body holds the client's secret, so the journal does without it; without the answer, too. */
  async function issueToken(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const entry = journal.open({
      backend: 'token',
      deviceId: undefined,
      method: 'POST',
      path: TOKEN_PATH,
      headers: {},
      body: '',
    });
    const fault = faults.strike({ backend: 'token', method: 'POST', path: TOKEN_PATH, deviceId: undefined });
    const issue = () => tokens.issue(text, request.headers.authorization);
    if (fault) await strike(fault, response, entry, issue, closing);
    else send(response, entry, issue());
    entry.answer = null;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request);
    if (text === undefined) return;
    const { method = '', url = '' } = request;
    const { path, query } = splitUrl(url);
    if (method === 'POST' && path === TOKEN_PATH && typeof text === 'string')
      return issueToken(request, response, text);
    const answer = answered(() => {
      if (text instanceof Problem) throw text;
      const { route } = match(method, path);
      return route.handle({ query: new URLSearchParams(query), text });
    });
    world.commit();
    reply(response, answer);
  }

  return listen(port, (request, response) => {
    serve(request, response).catch((error: unknown) => {
      response.destroy();
      if (!closing.aborted) report(error);
    });
  });
}
