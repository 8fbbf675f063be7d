import { type Finding, failure, ok, outage, warning } from 'telemetry/check/finding.ts';
import { tryAccess, tryToken } from '../backends/accessTrial.ts';
import { type Access, accessOf } from '../identity/access.ts';
import { backendNames } from '../protocol/vocabulary.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { unanswered } from './unanswered.ts';

type BackendSettings = MethodsSettings['backends'];

/** Where each backend is, with the name of the setting. */
export type BackendUrls = Partial<
  Record<'informationModel' | 'typeRegistry' | 'principalManager', readonly [url: string, setting: string]>
>;

const answerMs = 10_000;

/** To the question about a device that does not exist, by the contracts. */
const expected: readonly number[] = [200, 403];

/** Gets a token, and asks each backend with it for something that is not there. */
export async function checkBackends(all: Settings | MethodsSettings, urls: BackendUrls): Promise<Finding[]> {
  const access = accessOf(all);
  const entries = Object.entries(urls) as [keyof BackendUrls, readonly [url: string, setting: string]][];
  const byIdentity = entries.filter(([name]) => access.backend(name) !== undefined);
  const others = entries.filter(([name]) => access.backend(name) === undefined);
  const found = await Promise.all(
    byIdentity.map(([name, [url, setting]]) => withIdentity(name, url, setting, all.backends, access)),
  );
  return [...(others.length === 0 ? [] : await withToken(all.backends, others)), ...found];
}

/** A backend that has a scope for the identity (D365). */
async function withIdentity(
  name: keyof BackendUrls,
  url: string,
  setting: string,
  settings: BackendSettings,
  access: Access,
): Promise<Finding> {
  const token = await access
    .backend(name)
    ?.getToken()
    .catch((error: Error) => error);
  if (token === undefined || token instanceof Error)
    return failure(
      backendNames[name],
      token?.message ?? 'no token',
      'repair the identity, or its scope (docs/identity.md)',
    );
  return findingOf(name, url, setting, settings, token.token);
}

async function withToken(
  settings: BackendSettings,
  urls: readonly (readonly [keyof BackendUrls, readonly [url: string, setting: string]])[],
): Promise<Finding[]> {
  const what = backendNames.tokenEndpoint;
  const { token, cause } = await tryToken(settings);
  if (token === undefined) {
    const isRefusal = /answered with HTTP 4(?!08|29)\d\d|unreadable/.test(cause);
    return [
      isRefusal
        ? failure(
            what,
            cause,
            'compare BACKENDS_TOKEN_URL, BACKENDS_CLIENT_ID, BACKENDS_CLIENT_SECRET and BACKENDS_TOKEN_SCOPE with what you were given',
          )
        : unanswered(what, cause || 'no token', 'BACKENDS_TOKEN_URL', 'compare BACKENDS_TOKEN_URL'),
    ];
  }
  const tried = urls.map(([name, [url, setting]]) => findingOf(name, url, setting, settings, token));
  return [...(settings.tokenUrl === '' ? [] : [ok(what, 'gives a token')]), ...(await Promise.all(tried))];
}

async function findingOf(
  backend: keyof BackendUrls,
  url: string,
  setting: string,
  settings: BackendSettings,
  token: string,
): Promise<Finding> {
  const what = backendNames[backend];
  const { status, cause } = await tryAccess(backend, url, settings, token, answerMs);
  if (status === undefined) return unanswered(what, cause, setting, `compare ${setting}`);
  const said = `HTTP ${status} (${setting})`;
  if (status === 401) {
    const source = settings.tokenUrl === '' ? 'BACKENDS_TOKEN' : 'the client of BACKENDS_CLIENT_ID';
    return failure(what, `refuses the token: ${said}`, `have it accept ${source}, or use one that it accepts`);
  }
  if (status >= 500 || status === 429) return outage(what, said, 'wait until it is back');
  if (!expected.includes(status))
    return warning(
      what,
      `answers ${said} to a harmless question`,
      `compare ${setting} with its base URL, and the rights of the token`,
    );
  return ok(what, `answers, and accepts the token (HTTP ${status})`);
}
