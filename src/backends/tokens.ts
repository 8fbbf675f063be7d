import type { AxiosAdapter } from 'axios';
import { z } from 'zod';
import { NoToken, type ScopedTokens } from '../access/identity.ts';
import { currentOf, renewed, type Secret } from '../access/secretFiles.ts';
import { monotonicOfComing } from '../concurrency/clocks.ts';
import { singleFlight } from '../concurrency/waiting.ts';
import { createRequestRecords } from '../observing/callRecords.ts';
import type { Troubles } from '../observing/log.ts';
import { type Meter, noMeter } from '../observing/metrics.ts';
import type { MethodsSettings } from '../settings/config.ts';
import { type BackendState, beginOutage, probeUntilHealthy } from './circuit.ts';
import { policy } from './retryPolicy.ts';
import { createTransport, TransportFailure } from './transport.ts';

/** The token endpoint gives none. This says nothing about the backends. */
export class NoAccessToken extends Error {
  override readonly name = 'NoAccessToken';
}

/** The token, or what is used when there is none: that says nothing about the backend. */
export const orNone = <T>(token: Promise<string>, otherwise: T): Promise<string | T> =>
  token.catch((error) => {
    if (error instanceof NoAccessToken) return otherwise;
    throw error;
  });

export interface TokenSource {
  /** The current token; a promise only while there is none. @throws NoAccessToken */
  token(): string | Promise<string>;
  /** A token to replace one that a backend refused. It may be the same token. @throws NoAccessToken */
  renew(refused: string): Promise<string>;
  /** There is no token, and the endpoint gives none: calls wait (D317). */
  isOut(): boolean;
  /** Undefined unless it is out. Otherwise resolves with true when there is a token, or with false when the service stops. */
  untilBack(): Promise<boolean> | undefined;
  /** Of the endpoint, for operators; undefined when there is none. */
  state(): BackendState | undefined;
  close(): Promise<void>;
}

/** A token of the settings. It changes only with its file (D397). */
export const staticToken = (token: Secret): TokenSource => ({
  token: () => currentOf(token),
  renew: (refused) => renewed(token, refused),
  isOut: () => false,
  untilBack: () => undefined,
  state: () => undefined,
  close: async () => {},
});

interface Issuer {
  /** Asks for a token. @param isRepeat whether it has been asked for in vain */
  request(isRepeat: boolean): Promise<{ readonly token: string; readonly lifeMs: number }>;
  /** Called at the begin of each outage. */
  out(): void;
  /** None of those that the platform makes is known. */
  readonly requests?: Pick<ReturnType<typeof createRequestRecords>, 'count' | 'oldestMs'>;
  close?(): Promise<void>;
}

/** A token is renewed in the background after this share of its lifetime. */
const renewAt = 0.8;
const retryMs = 5000;
const source = 'token endpoint';

/** Keeps a token of a limited life, and renews it. At most one request runs at a time. */
function createRenewed(issuer: Issuer, troubles: Troubles): TokenSource {
  let current = '';
  let expires = 0;
  let nextRenewal = 0;
  /** No message can cause it, so that one failure begins it. */
  let outage: (ReturnType<typeof beginOutage> & { stopProbing?: () => void }) | undefined;
  let isClosed = false;
  const hasToken = () => performance.now() < expires;

  function endOutage(isBack: boolean) {
    outage?.stopProbing?.();
    outage?.end(isBack);
    outage = undefined;
  }

  const fetchToken = singleFlight(async () => {
    nextRenewal = Number.POSITIVE_INFINITY;
    try {
      const { token, lifeMs } = await issuer.request(outage !== undefined);
      const now = performance.now();
      current = token;
      expires = now + lifeMs;
      nextRenewal = now + lifeMs * renewAt;
      endOutage(true);
      troubles.clear(source, 'there is an access token for the backends');
      return token;
    } catch (error) {
      nextRenewal = performance.now() + retryMs;
      // A parser's message may quote the response, and with it a token.
      const cause = error instanceof SyntaxError || error instanceof z.ZodError ? 'unreadable answer' : error;
      const diagnosis = { cause: cause instanceof Error ? cause.message : cause };
      const trouble = { level: 'warn', message: 'no access token for the backends', diagnosis } as const;
      troubles.raise(source, { ...trouble, still: () => ({}) }); // until there is a token, also while no call needs one
      if (outage === undefined && !isClosed) {
        outage = beginOutage(failureOf(error));
        issuer.out();
      }
      throw new NoAccessToken('no access token');
    }
  });

  const probe = async () => ((await orNone(fetchToken(), undefined)) === undefined ? 0 : undefined);

  return {
    token() {
      if (!hasToken()) return fetchToken();
      // The current token is still valid: no call waits for the next one, and a failure to get it is retried later.
      if (performance.now() >= nextRenewal) fetchToken().catch(() => undefined);
      return current;
    },
    renew: async (refused) => (current !== '' && current !== refused ? current : fetchToken()),
    isOut: () => outage !== undefined && !hasToken(),
    untilBack() {
      if (outage === undefined || hasToken()) return undefined;
      outage.stopProbing ??= probeUntilHealthy({ probe, ...policy }, () => {}, 0);
      return outage.ended;
    },
    state: () => ({
      circuit: outage ? 'open' : 'closed',
      outage: outage && { since: outage.since, failure: outage.failure },
      connections: { inUse: issuer.requests?.count() ?? 0, waiting: 0 },
      oldestMs: issuer.requests?.oldestMs() ?? 0,
    }),
    async close() {
      isClosed = true;
      endOutage(false);
      await issuer.close?.();
    },
  };
}

/** Tokens of the process's identity, for one backend (D365). */
export function identityTokens(credential: ScopedTokens, troubles: Troubles, meter: Meter = noMeter): TokenSource {
  async function request() {
    const { token, expiresOnTimestamp } = await credential.getToken();
    return { token, lifeMs: monotonicOfComing(expiresOnTimestamp) - performance.now() };
  }
  return createRenewed({ request, out: createRequestRecords('tokenEndpoint', meter).out }, troubles);
}

/** How a program authenticates to the backends: by a fixed bearer token, or, when it is empty, by those of the token endpoint. */
export interface TokenSettings extends Pick<MethodsSettings['backends'], 'tokenUrl' | 'clientId' | 'tokenScope'> {
  readonly token: Secret;
  readonly clientSecret: Secret;
}

const answer = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.coerce.number().positive().default(300),
});

const timeoutMs = 10_000;
const maxAnswerBytes = 64 * 1024;

/** Tokens from an OAuth2 token endpoint (client credentials). */
export function clientCredentials(
  { tokenUrl, clientId, clientSecret, tokenScope: scope }: Omit<TokenSettings, 'token'>,
  troubles: Troubles,
  meter = noMeter,
  given?: AxiosAdapter,
): TokenSource {
  const { origin, pathname, search } = new URL(tokenUrl);
  const { adapter, close } = createTransport(origin, { connections: 1, attemptTimeoutMs: timeoutMs }, given);
  // Loaded for those who have such an endpoint: with it comes half of what a start loads for backends.
  const loading = import('axios').then(({ Axios }) => new Axios({ adapter, maxContentLength: maxAnswerBytes }));
  const requests = createRequestRecords('tokenEndpoint', meter);
  const { measure, out } = requests;

  async function post(secret: string, isRepeat: boolean) {
    if (isRepeat) requests.repeated();
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret };
    const sent = requests.begin();
    const measured = (end: Parameters<typeof measure>[2]) => measure('fetch token', 'POST', end, requests.ended(sent));
    try {
      const response = await (await loading).request<Buffer>({
        method: 'POST',
        url: pathname + search,
        data: new URLSearchParams({ ...form, ...(scope !== '' && { scope }) }).toString(),
        timeout: timeoutMs,
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      });
      measured(response);
      return response;
    } catch (error) {
      if (error instanceof TransportFailure) measured(error);
      throw error;
    } finally {
      requests.ended(sent);
    }
  }

  async function request(isRepeat: boolean) {
    const secret = currentOf(clientSecret);
    let response = await post(secret, isRepeat);
    if (response.status === 400 || response.status === 401) {
      // RFC 6749 allows both to refuse the client or its secret: with the next one, if there is one (D397).
      const next = await renewed(clientSecret, secret);
      if (next !== secret) response = await post(next, true);
    }
    const { status, data } = response;
    if (status !== 200) throw Object.assign(new Error(`the token endpoint answered with HTTP ${status}`), { status });
    const { access_token: token, expires_in: seconds } = answer.parse(JSON.parse(data.toString()));
    return { token, lifeMs: seconds * 1000 };
  }

  return createRenewed({ request, out, requests, close }, troubles);
}

/** For operators: in the words for failures of backends. */
function failureOf(error: unknown): string {
  if (error instanceof TransportFailure) return error.fault;
  if (error instanceof NoToken) return 'no token of the identity';
  const { status } = error as { readonly status?: number };
  return status === undefined ? 'unreadable answer' : `HTTP ${status}`;
}
