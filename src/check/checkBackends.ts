import { type Finding, failure, ok, outage, warning } from 'telemetry/check/finding.ts';
import { tryAccess, tryToken } from '../backends/accessTrial.ts';
import { backendNames } from '../protocol/backendCalls.ts';
import type { MethodsSettings } from '../settings/config.ts';

type Settings = MethodsSettings['backends'];

/** Where each backend is, with the name of the setting. */
export type BackendUrls = Partial<
  Record<'informationModel' | 'typeRegistry' | 'principalManager', readonly [url: string, setting: string]>
>;

const answerMs = 10_000;

/** To the question about a device that does not exist, by the contracts. */
const expected: readonly number[] = [200, 403];

/** Gets a token, and asks each backend with it for something that is not there. */
export async function checkBackends(settings: Settings, urls: BackendUrls): Promise<Finding[]> {
  const what = backendNames.tokenEndpoint;
  const { token, cause } = await tryToken(settings);
  if (token === undefined) {
    const isRefusal = /HTTP 4(?!08|29)\d\d|unreadable/.test(cause);
    return [
      isRefusal
        ? failure(
            what,
            cause,
            'compare BACKENDS_TOKEN_URL, BACKENDS_CLIENT_ID, BACKENDS_CLIENT_SECRET and BACKENDS_TOKEN_SCOPE with what you were given',
          )
        : outage(what, cause || 'no token', 'compare BACKENDS_TOKEN_URL, or wait until it is back'),
    ];
  }
  const tried = Object.entries(urls).map(([name, [url, setting]]) =>
    findingOf(name as keyof BackendUrls, url, setting, settings, token),
  );
  return [...(settings.tokenUrl === '' ? [] : [ok(what, 'gives a token')]), ...(await Promise.all(tried))];
}

async function findingOf(
  backend: keyof BackendUrls,
  url: string,
  setting: string,
  settings: Settings,
  token: string,
): Promise<Finding> {
  const what = backendNames[backend];
  const { status, cause } = await tryAccess(backend, url, settings, token, answerMs);
  if (status === undefined)
    return outage(what, `${cause} (${setting})`, `compare ${setting}, or wait until it is back`);
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
