import { type Finding, failure, ok, outage, warning } from '@device-messaging/telemetry/check.ts';
import { accessOf } from '../access/access.ts';
import { createAttempt, maxAnswerBytes, probes } from '../backends/backend.ts';
import { openTokens } from '../backends/backends.ts';
import { createDeadline } from '../backends/deadline.ts';
import { identityTokens, type TokenSource } from '../backends/tokens.ts';
import { createTransport, TransportFailure } from '../backends/transport.ts';
import type { Troubles } from '../observing/log.ts';
import { backendNames } from '../protocol/vocabulary.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { unanswered } from './failed.ts';

type BackendUse = keyof typeof probes;

/** Where each backend of a program is. */
export type BackendUrls = Readonly<Partial<Record<BackendUse, string>>>;

const settingOf: Readonly<Record<BackendUse, string>> = {
  informationModel: 'INFORMATION_MODEL_URL',
  typeRegistry: 'TYPE_REGISTRY_URL',
  principalManager: 'PRINCIPAL_MANAGER_URL',
};

const answerMs = 10_000;

/** Gets a token, and asks each backend with it for something that is not there. */
export async function checkBackends(all: Settings | MethodsSettings, urls: BackendUrls): Promise<Finding[]> {
  const access = accessOf(all);
  const places = Object.entries(urls) as [BackendUse, string][];

  /** A backend that has a scope for the identity (D365). */
  async function withIdentity([name, url]: [BackendUse, string]): Promise<Finding[]> {
    const credential = access.backend(name);
    if (credential === undefined) return [];
    const { token, cause } = await tokenOf((troubles) => identityTokens(credential, troubles));
    if (token !== undefined) return [await ask(name, url, token, 'the identity')];
    return [failure(backendNames[name], cause, 'repair the identity, or its scope (docs/identity.md)')];
  }

  const others = places.filter(([name]) => access.backend(name) === undefined);
  const found = [others.length === 0 ? [] : withToken(others, all.backends), ...places.map(withIdentity)];
  return (await Promise.all(found)).flat();
}

async function withToken(places: [BackendUse, string][], settings: MethodsSettings['backends']): Promise<Finding[]> {
  const what = backendNames.tokenEndpoint;
  const { token, cause } = await tokenOf((troubles) => openTokens(settings, troubles));
  if (token === undefined) {
    const isRefusal = /answered with HTTP 4(?!08|29)\d\d|unreadable/.test(cause);
    const todo =
      'compare BACKENDS_TOKEN_URL, BACKENDS_CLIENT_ID, BACKENDS_CLIENT_SECRET and BACKENDS_TOKEN_SCOPE with what you were given';
    return [isRefusal ? failure(what, cause, todo) : unanswered(what, cause, 'BACKENDS_TOKEN_URL')];
  }
  const source = settings.tokenUrl === '' ? 'BACKENDS_TOKEN' : 'the client of BACKENDS_CLIENT_ID';
  const asked = await Promise.all(places.map(([name, url]) => ask(name, url, token, source)));
  return settings.tokenUrl === '' ? asked : [ok(what, 'gives a token'), ...asked];
}

/** A token, or why there is none. */
async function tokenOf(open: (troubles: Troubles) => TokenSource) {
  let cause = '';
  const tokens = open({
    raise(_, { diagnosis }) {
      cause = String(Object(diagnosis).cause);
    },
    clear() {},
    close() {},
  });
  const token = await Promise.resolve(tokens.token()).catch(() => undefined);
  await tokens.close();
  return { token, cause: cause || 'no token' };
}

/**
 * Sends the request that also probes for the end of an outage (B5).
 * @param source of the token
 */
async function ask(name: BackendUse, url: string, token: string, source: string): Promise<Finding> {
  const [what, setting] = [backendNames[name], settingOf[name]];
  const { adapter, close } = createTransport(url, { connections: 1, attemptTimeoutMs: answerMs });
  const attempt = createAttempt({ adapter, maxAnswerBytes, tokens: { renew: async () => token }, name: what });
  const headers = { 'x-svc-device-id': 'none', 'x-correlation-id': 'check' };
  const request = { method: 'GET', path: probes[name], headers };
  const answer = await attempt(request, token, answerMs, createDeadline(answerMs / 1000)).finally(close);
  if (answer instanceof TransportFailure) return unanswered(what, answer.message, setting);
  const { status } = answer;
  const said = `HTTP ${status} (${setting})`;
  if (status === 200) return ok(what, `answers, and accepts the token (HTTP ${status})`);
  // The answer to the question for a device that does not exist, by the contracts.
  if (status === 403) return ok(what, `answers, and refuses a device that there is not (HTTP ${status})`);
  if (status === 401)
    return failure(what, `refuses the token: ${said}`, `have it accept ${source}, or use one that it accepts`);
  if (status >= 500 || status === 429) return outage(what, said, 'wait until it is back');
  return warning(
    what,
    `answers ${said} to a harmless question`,
    `compare ${setting} with its base URL, and the rights of the token`,
  );
}
