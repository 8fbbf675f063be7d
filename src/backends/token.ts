import { Axios, type AxiosAdapter } from 'axios';
import { z } from 'zod';
import type { Troubles } from '../log/troubles.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import { createRequestRecords } from '../observing/callRecords.ts';
import { createRecentRequests } from '../observing/recentRequests.ts';
import type { BackendState } from './state.ts';
import { createTokenOutage } from './tokenOutage.ts';
import { createTransport, TransportFailure } from './transport.ts';

/** The token endpoint gives none. This says nothing about the backends. */
export class NoAccessToken extends Error {
  override readonly name = 'NoAccessToken';
}

/** The source of the bearer tokens for backend calls. */
export interface TokenSource {
  /**
   * The current token; a promise only while there is none.
   * @throws NoAccessToken
   */
  token(): string | Promise<string>;
  /**
   * A token to replace one that a backend refused. It may be the same token.
   * @throws NoAccessToken
   */
  renew(refused: string): Promise<string>;
  /** There is no token, and the endpoint gives none: calls wait (D317). */
  isOut(): boolean;
  /** Undefined unless it is out. Otherwise resolves with true when there is a token, or with false when the service stops. */
  untilBack(): Promise<boolean> | undefined;
  /** Of the endpoint, for operators; undefined when there is none. */
  state(): BackendState | undefined;
  close(): Promise<void>;
}

/** A token that never changes. */
export const staticToken = (token: string): TokenSource => ({
  token: () => token,
  renew: async () => token,
  isOut: () => false,
  untilBack: () => undefined,
  state: () => undefined,
  close: async () => {},
});

interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Empty: no token. */
  readonly scope: string;
  readonly timeoutMs: number;
  readonly troubles: Troubles;
  readonly meter?: Meter | undefined;
  /** Replaces the network. */
  readonly adapter?: AxiosAdapter | undefined;
}

const answer = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.coerce.number().positive().default(300),
});

/** A token is renewed in the background after this share of its lifetime. */
const renewAt = 0.8;
const retryMs = 5000;
const maxAnswerBytes = 64 * 1024;
const source = 'token endpoint';

/** Tokens from an OAuth2 token endpoint (client credentials). At most one request runs at a time. */
export function clientCredentials(options: ClientCredentials): TokenSource {
  const { tokenUrl, clientId, clientSecret, scope, timeoutMs, troubles, meter = noMeter } = options;
  const { origin, pathname, search } = new URL(tokenUrl);
  const { adapter, close } = options.adapter
    ? { adapter: options.adapter, close: async () => {} }
    : createTransport(origin, { connections: 1, attemptTimeoutMs: timeoutMs });
  const axios = new Axios({ adapter, maxContentLength: maxAnswerBytes });
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    ...(scope !== '' && { scope }),
  }).toString();

  let current: { readonly token: string; readonly expires: number } | undefined;
  let nextRenewal = 0;
  let pending: Promise<string> | undefined;
  const records = createRequestRecords('tokenEndpoint', meter);
  const requests = createRecentRequests();
  const outage = createTokenOutage(records.out);
  const hasToken = () => current !== undefined && performance.now() < current.expires;

  async function post() {
    if (outage.now() !== undefined) records.repeated();
    const sent = requests.begin();
    const measure = (end: Parameters<typeof records.measure>[2]) =>
      records.measure('fetch token', 'POST', end, requests.ended(sent));
    try {
      const response = await axios.request<Buffer>({
        method: 'POST',
        url: pathname + search,
        data: form,
        timeout: timeoutMs,
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      });
      measure(response);
      return response;
    } catch (error) {
      if (error instanceof TransportFailure) measure(error);
      throw error;
    } finally {
      requests.dropped(sent);
    }
  }

  async function request(): Promise<string> {
    const { status, data } = await post();
    if (status !== 200) throw new TokenRefused(status);
    const { access_token: token, expires_in: seconds } = answer.parse(JSON.parse(data.toString()));
    const now = performance.now();
    current = { token, expires: now + seconds * 1000 };
    nextRenewal = now + seconds * 1000 * renewAt;
    outage.end();
    troubles.clear(source, 'there is an access token for the backends');
    return token;
  }

  function fetchToken(): Promise<string> {
    pending ??= request()
      .catch((error: unknown) => {
        nextRenewal = performance.now() + retryMs;
        // A parser's message may quote the response, and with it a token.
        const cause = error instanceof SyntaxError || error instanceof z.ZodError ? 'unreadable answer' : error;
        const diagnosis = { cause: cause instanceof Error ? cause.message : cause };
        // It lasts until there is a token, also while no call needs one.
        const still = () => ({});
        troubles.raise(source, { level: 'warn', message: 'no access token for the backends', diagnosis, still });
        outage.begin(failureOf(error));
        throw new NoAccessToken('no access token');
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  }

  const isOut = () => outage.now() !== undefined && !hasToken();
  const probe = async () => ({
    healthy: await fetchToken().then(
      () => true,
      () => false,
    ),
    retryAfterMs: 0,
  });

  return {
    token() {
      if (current === undefined || !hasToken()) return fetchToken();
      // The current token is still valid: no call waits for the next one, and a failure to get it is retried later.
      if (performance.now() >= nextRenewal && pending === undefined) fetchToken().catch(() => undefined);
      return current.token;
    },
    async renew(refused) {
      return current !== undefined && current.token !== refused ? current.token : fetchToken();
    },
    isOut,
    untilBack: () => (isOut() ? outage.untilOver(probe) : undefined),
    state() {
      return {
        circuit: outage.now() ? 'open' : 'closed',
        outage: outage.now(),
        connections: { inUse: requests.underWay(), waiting: 0 },
        recent: requests.recent(),
      };
    },
    async close() {
      outage.close();
      await close();
    },
  };
}

/** The endpoint has answered, but not with a token. */
class TokenRefused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the token endpoint answered with HTTP ${status}`);
    this.status = status;
  }
}

/** For operators: in the words for failures of backends. */
function failureOf(error: unknown): string {
  if (error instanceof TransportFailure) return error.fault;
  return error instanceof TokenRefused ? `HTTP ${error.status}` : 'unreadable answer';
}
