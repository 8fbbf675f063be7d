import { Axios, type AxiosAdapter } from 'axios';
import { z } from 'zod';
import { currentOf, renewed, type Secret } from '../identity/rotatingSecret.ts';
import type { Troubles } from '../log/troubles.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import { createOpenRequests, createRequestRecords } from '../observing/callRecords.ts';
import { createRenewal } from './tokenRenewal.ts';
import type { TokenSource } from './tokenSource.ts';
import { createTransport, TransportFailure } from './transport.ts';

interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
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

const maxAnswerBytes = 64 * 1024;

/** Of the client and its secret: RFC 6749 allows both. */
const refusals: readonly number[] = [400, 401];

/** Tokens from an OAuth2 token endpoint (client credentials). At most one request runs at a time. */
export function clientCredentials(options: ClientCredentials): TokenSource {
  const { tokenUrl, clientId, clientSecret, scope, timeoutMs, troubles, meter = noMeter } = options;
  const { origin, pathname, search } = new URL(tokenUrl);
  const { adapter, close } = options.adapter
    ? { adapter: options.adapter, close: async () => {} }
    : createTransport(origin, { connections: 1, attemptTimeoutMs: timeoutMs });
  const axios = new Axios({ adapter, maxContentLength: maxAnswerBytes });
  const formWith = (secret: string) =>
    new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: secret,
      ...(scope !== '' && { scope }),
    }).toString();
  const records = createRequestRecords('tokenEndpoint', meter);
  const requests = createOpenRequests();

  async function post(secret: string, isRepeat: boolean) {
    if (isRepeat) records.repeated();
    const sent = requests.begin();
    const measure = (end: Parameters<typeof records.measure>[2]) =>
      records.measure('fetch token', 'POST', end, requests.ended(sent));
    try {
      const response = await axios.request<Buffer>({
        method: 'POST',
        url: pathname + search,
        data: formWith(secret),
        timeout: timeoutMs,
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      });
      measure(response);
      return response;
    } catch (error) {
      if (error instanceof TransportFailure) measure(error);
      throw error;
    } finally {
      requests.ended(sent);
    }
  }

  return createRenewal({
    async request(isRepeat) {
      const secret = currentOf(clientSecret);
      let response = await post(secret, isRepeat);
      if (refusals.includes(response.status)) {
        // With the next secret, if there is one (D397).
        const next = await renewed(clientSecret, secret);
        if (next !== secret) response = await post(next, true);
      }
      const { status, data } = response;
      if (status !== 200) throw new TokenRefused(status);
      const { access_token: token, expires_in: seconds } = answer.parse(JSON.parse(data.toString()));
      return { token, lifeMs: seconds * 1000 };
    },
    troubles,
    failureOf,
    onOutage: records.out,
    state: () => ({ connections: { inUse: requests.count(), waiting: 0 }, oldestMs: requests.oldestMs() }),
    close,
  });
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
