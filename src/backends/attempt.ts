import { AxiosHeaders } from 'axios';
import type { Deadline } from './deadline.ts';
import { NoAccessToken, type TokenSource } from './tokens.ts';
import { type Adapter, type ReceivedAnswer, TransportFailure } from './transport.ts';

/** The response to one attempt, of any status. */
export interface HttpResponse extends ReceivedAnswer {
  /** The token of the request: texts for devices and logs must not contain it. */
  readonly token: string;
  readonly retryAfter: string | undefined;
}

/** One HTTP request without its token. */
export interface Outgoing {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

interface AttemptOptions {
  readonly adapter: Adapter;
  readonly maxAnswerBytes: number;
  readonly tokens: Pick<TokenSource, 'renew'>;
  /** Of the backend, for `details`. */
  readonly name: string;
}

export type Attempt = ReturnType<typeof createAttempt>;

/**
 * Sends a request once. After a 401 it renews the token and sends the request again: the token may have expired early.
 * The 401 stays the answer when there is no other token.
 */
export function createAttempt({ adapter, maxAnswerBytes, tokens, name }: AttemptOptions) {
  // Without `Axios.request`: it would merge defaults, normalise headers and apply transforms, of which there are none (D142).
  const transmit = ({ method, path, body, headers }: Outgoing, timeoutMs: number, token: string) =>
    adapter({
      method,
      url: path,
      data: body,
      timeout: timeoutMs,
      maxContentLength: maxAnswerBytes,
      headers: Object.assign(new AxiosHeaders(), { authorization: `Bearer ${token}` }, headers),
    });

  const waitingFor = `an access token for the ${name}`;

  return async (
    outgoing: Outgoing,
    token: string,
    timeoutMs: number,
    deadline: Deadline,
  ): Promise<HttpResponse | TransportFailure> => {
    try {
      const response = responseOf(await transmit(outgoing, timeoutMs, token), token);
      if (response.status !== 401) return response;
      const renewed = await deadline.race(tokens.renew(token).catch(orTheSame(token)), waitingFor);
      const left = Math.max(1, Math.min(timeoutMs, deadline.remaining()));
      return renewed === token ? response : responseOf(await transmit(outgoing, left, renewed), renewed);
    } catch (error) {
      if (error instanceof TransportFailure) return error;
      throw error;
    }
  };
}

const orTheSame = (token: string) => (error: unknown) => {
  if (error instanceof NoAccessToken) return token;
  throw error;
};

const responseOf = (answer: ReceivedAnswer, token: string): HttpResponse =>
  Object.assign(answer, { token, retryAfter: answer.headers['retry-after'] as string | undefined });
