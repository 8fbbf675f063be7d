import type { Axios } from 'axios';
import type { Deadline } from './deadline.ts';
import type { TokenSource } from './token.ts';
import { TransportFailure } from './transport.ts';

/** The response to one attempt, of any status. */
export interface HttpResponse {
  readonly status: number;
  readonly data: Buffer;
  readonly retryAfter: string | undefined;
  /** The token of the request: texts for devices and logs must not contain it. */
  readonly token: string;
}

/** One HTTP request without its token. */
export interface Outgoing {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export type Attempt = (
  outgoing: Outgoing,
  timeoutMs: number,
  deadline: Deadline,
) => Promise<HttpResponse | TransportFailure>;

/**
 * Sends a request once. After a 401 it renews the token and sends the request again: the token may have expired early.
 * @param name of the backend, for `details`
 */
export function createAttempt(axios: Axios, tokens: TokenSource, name: string): Attempt {
  async function transmit(outgoing: Outgoing, timeoutMs: number, token: string): Promise<HttpResponse> {
    const { method, path, body, headers } = outgoing;
    const {
      status,
      data,
      headers: responseHeaders,
    } = await axios.request<Buffer>({
      method,
      url: path,
      data: body,
      timeout: timeoutMs,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    return { status, data, retryAfter: responseHeaders['retry-after'] as string | undefined, token };
  }

  return async (outgoing, timeoutMs, deadline) => {
    const waitingFor = `an access token for the ${name}`;
    try {
      const known = tokens.token();
      const token = typeof known === 'string' ? known : await deadline.race(known, waitingFor);
      const response = await transmit(outgoing, timeoutMs, token);
      if (response.status !== 401) return response;
      const renewed = await deadline.race(tokens.renew(token), waitingFor);
      const left = Math.max(1, Math.min(timeoutMs, deadline.remaining()));
      return renewed === token ? response : await transmit(outgoing, left, renewed);
    } catch (error) {
      if (error instanceof TransportFailure) return error;
      throw error;
    }
  };
}
