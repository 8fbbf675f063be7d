import { Axios, type AxiosAdapter } from 'axios';
import { z } from 'zod';
import type { Troubles } from '../log/troubles.ts';
import { createTransport, TransportFailure } from './transport.ts';

/** The source of the bearer tokens for backend calls. */
export interface TokenSource {
  /**
   * The current token; a promise only while there is none.
   * @throws TransportFailure `no access token`
   */
  token(): string | Promise<string>;
  /** A token to replace one that a backend refused. It may be the same token. */
  renew(refused: string): Promise<string>;
  close(): Promise<void>;
}

/** A token that never changes. */
export const staticToken = (token: string): TokenSource => ({
  token: () => token,
  renew: async () => token,
  close: async () => {},
});

interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Empty for none. */
  readonly scope: string;
  readonly timeoutMs: number;
  readonly troubles: Troubles;
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
  const { tokenUrl, clientId, clientSecret, scope, timeoutMs, troubles } = options;
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

  async function request(): Promise<string> {
    const { status, data } = await axios.request<Buffer>({
      method: 'POST',
      url: pathname + search,
      data: form,
      timeout: timeoutMs,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    });
    if (status !== 200) throw new Error(`the token endpoint answered with HTTP ${status}`);
    const { access_token: token, expires_in: seconds } = answer.parse(JSON.parse(data.toString()));
    const now = performance.now();
    current = { token, expires: now + seconds * 1000 };
    nextRenewal = now + seconds * 1000 * renewAt;
    troubles.over(source, 'there is an access token for the backends', {});
    return token;
  }

  function fetchToken(): Promise<string> {
    pending ??= request()
      .catch((error: unknown) => {
        nextRenewal = performance.now() + retryMs;
        // A parser's message may quote the response, and with it a token.
        const cause = error instanceof SyntaxError || error instanceof z.ZodError ? 'unreadable answer' : error;
        const fields = { cause: cause instanceof Error ? cause.message : cause };
        // It lasts until there is a token, also while no call needs one.
        const still = () => ({});
        troubles.met(source, { level: 'warn', message: 'no access token for the backends', fields, still });
        throw new TransportFailure('no access token', false);
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  }

  return {
    token() {
      const now = performance.now();
      if (current === undefined || now >= current.expires) return fetchToken();
      // The current token is still valid: no call waits for the next one, and a failure to get it is retried later.
      if (now >= nextRenewal && pending === undefined) fetchToken().catch(() => undefined);
      return current.token;
    },
    async renew(refused) {
      return current !== undefined && current.token !== refused ? current.token : fetchToken();
    },
    close,
  };
}
