import { type BackendKey, backendNames } from '../protocol/vocabulary.ts';
import { createAttempt } from './attempt.ts';
import { backendSettings, type CommonSettings, openTokens } from './backendOpener.ts';
import { createDeadline } from './deadline.ts';
import { probes } from './http.ts';
import { createTransport, TransportFailure } from './transport.ts';

/** A backend, and what it has said to a harmless request with our token. */
export interface AccessTrial {
  readonly backend: BackendKey;
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** Without an answer: why. */
  readonly cause: string;
}

type ProbedKey = keyof typeof probes;

/** Opens the token source of the settings for one look at it. */
export async function tryToken(settings: CommonSettings): Promise<{ readonly token?: string; readonly cause: string }> {
  let cause = '';
  const tokens = openTokens(settings, {
    raise(_, { diagnosis }) {
      const told: { readonly cause?: unknown } = diagnosis ?? {};
      cause = String(told.cause ?? '');
    },
    clear: () => {},
    close: () => {},
  });
  try {
    return { token: await tokens.token(), cause };
  } catch {
    return { cause };
  } finally {
    await tokens.close();
  }
}

/** Sends the request that also probes for the end of an outage (B5). */
export async function tryAccess(
  backend: ProbedKey,
  url: string,
  settings: CommonSettings,
  token: string,
  answerMs: number,
): Promise<AccessTrial> {
  const { adapter, close } = createTransport(url, { connections: 1, attemptTimeoutMs: answerMs });
  const { maxAnswerBytes } = backendSettings(settings);
  const name = backendNames[backend];
  const attempt = createAttempt({ adapter, maxAnswerBytes, tokens: { renew: async () => token }, name });
  try {
    const headers = { 'x-svc-device-id': 'none', 'x-correlation-id': 'check' };
    const request = { method: 'GET', path: probes[backend], headers };
    const answer = await attempt(request, token, answerMs, createDeadline(answerMs / 1000));
    return answer instanceof TransportFailure
      ? { backend, status: undefined, cause: answer.message }
      : { backend, status: answer.status, cause: '' };
  } finally {
    await close();
  }
}
