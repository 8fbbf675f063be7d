import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, type HttpListener, isLocal, splitUrl, type Unanswered } from 'iot-hub-emulator/http';
import { recordCall } from '../calls/calls.ts';
import { answerAsFaulted } from '../http/answerAsFaulted.ts';
import { answered } from '../http/answered.ts';
import { type BackendContext, serveHttp } from '../http/backend.ts';
import { createMatcher } from '../http/matcher.ts';
import { readText } from '../http/text.ts';
import { forbidden, Problem } from '../requests/problem.ts';
import { adminRoutes } from './adminRoutes.ts';

const TOKEN_PATH = '/oauth2/token';

/** Serves the admin port: administration without a token, and the token endpoint that the backends' clients use. */
export function serveAdmin(port: number, context: BackendContext): Promise<HttpListener> {
  const { world, tokens, faults, journal, closing } = context;
  const match = createMatcher(adminRoutes(context));

  /** The body holds the client's secret, so the journal does without it; without the answer, too. */
  async function issueToken(request: IncomingMessage, response: ServerResponse, text: string) {
    const target = { method: 'POST', path: TOKEN_PATH, deviceId: undefined };
    const fault = faults.strike({ backend: 'token', ...target });
    const recordAnswer = recordCall(journal, {
      server: 'token',
      ...target,
      headers: {},
      body: '',
      ...(fault && { fault: fault.id }),
    });
    const decide = () => tokens.issue(text, request.headers.authorization);
    const withheld = () => recordAnswer(null, null);
    const answer = fault ? await answerAsFaulted(fault, { response, decide, onWithheld: withheld, closing }) : decide();
    if (typeof answer !== 'string') recordAnswer(answer.status, null);
    return answer;
  }

  return serveHttp(port, closing, async (request, response): Promise<Answer | Unanswered> => {
    // a web page must not reach this port: neither by a cross-origin request nor under a host name of its own
    const text = isLocal(request)
      ? await readText(request)
      : forbidden('only local clients that are no web page may ask');
    const { method = '', url = '' } = request;
    const { path, query } = splitUrl(url);
    if (method === 'POST' && path === TOKEN_PATH && typeof text === 'string')
      return issueToken(request, response, text);
    const answer = answered(() => {
      if (text instanceof Problem) throw text;
      const { route, params } = match(method, path);
      return route.handle({ params, query: new URLSearchParams(query), text, request, response });
    });
    world.commit();
    return answer;
  });
}
