import { AxiosHeaders } from 'axios';
import type { Troubles } from '../log/troubles.ts';
import type { Circuit } from './circuit.ts';
import type { Deadline } from './deadline.ts';
import { isHealthy, isOutage, policy } from './retryPolicy.ts';
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

/** Logs an error while the backend refuses our token. @returns takes each HTTP status of the backend */
export function createAccessRecorder(name: string, troubles: Troubles): (status: number) => void {
  let isRefused = false;
  const source = `${name}: access`;
  const fields = { backend: name };
  // The trouble lasts until the backend accepts the token, also while no calls are made.
  const trouble = { level: 'error', message: 'backend refuses our access token', fields, still: () => ({}) } as const;

  return (status) => {
    if (status === 401) {
      isRefused = true;
      troubles.raise(source, trouble);
    } else if (isRefused && isHealthy(status)) {
      isRefused = false;
      troubles.clear(source, 'backend accepts our access token', fields);
    }
  };
}

export type RecordOutcome = ReturnType<typeof createOutcomeRecorder>;

/**
 * Reports the outcome of each attempt to the circuit (B5).
 * @param access takes each HTTP status
 * @returns takes the limit of the attempt in ms, too
 */
export const createOutcomeRecorder =
  (circuit: Circuit, attemptTimeoutMs: number, access: (status: number) => void) =>
  (response: HttpResponse | TransportFailure, deviceId: string, timeoutMs: number): void => {
    if (response instanceof TransportFailure) {
      const { fault } = response;
      if (fault === 'answer too large') return;
      // A time-out while other calls succeed means that the backend is slow, not down.
      const isLong = timeoutMs >= Math.min(policy.tellingTimeoutMs, attemptTimeoutMs);
      if (fault === 'no answer in time' && (!isLong || circuit.hasSucceededWithin(timeoutMs))) return;
      circuit.failed(deviceId, fault);
      return;
    }
    const { status } = response;
    access(status);
    if (status === 500) circuit.serverError(deviceId);
    else if (isOutage(status)) circuit.failed(deviceId, `HTTP ${status}`);
    else if (isHealthy(status)) circuit.succeeded();
  };

/** The same for an attempt with the token of a caller: no answer counts (M2), and without one, a probe decides (D45). */
export function recordOutcomeForCaller(circuit: Circuit, response: HttpResponse | TransportFailure): void {
  if (!(response instanceof TransportFailure) || response.fault === 'answer too large') return;
  circuit.probeNow(response.fault);
}
