import type { Dispatcher } from 'undici';
import type { ServiceAccess } from '../../access/access.ts';
import { openPool } from '../../access/network.ts';
import { currentOf, isSecret, renewed, whenChanged } from '../../access/secretFiles.ts';
import { createJoined } from '../../backends/transport.ts';
import { within } from '../../concurrency/waiting.ts';
import type { MethodFailure } from '../../protocol/vocabulary.ts';
import { partOf } from '../../settings/formats.ts';
import { type Client, newServiceClient, noRetry } from '../serviceSdk.ts';
import { type HttpsResponse, type HubError, readHubError } from './hubError.ts';

export interface DirectMethod {
  readonly device: string;
  /** Empty: the device itself. */
  readonly module: string;
  readonly payload: object | null;
  /** 5 to 300. */
  readonly timeoutSeconds: number;
}

export type DirectMethodResult =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly payload: unknown;
      /** The response of the hub, JSON: reading it into `payload` changes what no double can hold. */
      readonly text: string;
    }
  | ({ readonly kind: 'failure' } & HubError);

/** The only direct method of devices and edge proxies (M6; fact methods.answer). */
const methodName = 'invokeMethod';
/** For the network, after the time-out of the hub. Without it a dead connection would never be detected (M6). */
const graceMs = 5_000;
/** For a token of the identity, mostly there already. */
const tokenMs = 5_000;

export type DirectMethods = ReturnType<typeof createDirectMethods>;

/** @param access with the service connect right, or an identity that may invoke methods. @param ca authorities to trust instead, PEM */
export function createDirectMethods(access: ServiceAccess, ca?: string) {
  const hostName = isSecret(access) ? partOf(currentOf(access), 'HostName') : access.hostName;
  const requests = createHttpsRequests(hostName, ca);
  const pending = new Set<() => void>();
  let caller = callerFor(access, requests);
  whenChanged(access, () => {
    caller = callerFor(access, requests);
  });

  async function invokeOnce({ device, module, payload, timeoutSeconds }: DirectMethod): Promise<DirectMethodResult> {
    const ready = isSecret(access) ? caller() : unlessStopped(within(caller(), tokenMs));
    const client = await ready.catch(() => undefined);
    if (client === 'stopped') return { kind: 'failure', failure: 'stopped_unsent' };
    if (client === undefined) return { kind: 'failure', failure: 'unavailable' }; // there is no token
    return new Promise((resolve) => {
      const parameters = { methodName, payload, responseTimeoutInSeconds: timeoutSeconds, connectTimeoutInSeconds: 0 };
      const wasSent = () => request?.wasSent ?? false;
      const settle = (result: DirectMethodResult) => {
        clearTimeout(timer);
        pending.delete(abort);
        resolve(result);
      };
      const done = (error: Error | null | undefined, result?: unknown, response?: unknown) => {
        if (error) settle({ kind: 'failure', ...readHubError(error, wasSent()) });
        else settle(readResult(result, (response as HttpsResponse).text));
      };
      const request = requests.capture(() => client.invokeDeviceMethod(device, module, parameters, done));
      const end = (unsent: MethodFailure, sent: MethodFailure) => {
        settle({ kind: 'failure', failure: wasSent() ? sent : unsent });
        request?.abort();
      };
      const abort = () => end('stopped_unsent', 'stopped');
      const timer = setTimeout(() => end('unavailable', 'no_reply'), timeoutSeconds * 1000 + graceMs);
      pending.add(abort);
    });
  }

  async function unlessStopped<T>(work: Promise<T>): Promise<T | 'stopped'> {
    let stop = () => {};
    const stopped = new Promise<'stopped'>((resolve) => {
      stop = () => resolve('stopped');
    });
    pending.add(stop);
    return Promise.race([work, stopped]).finally(() => pending.delete(stop));
  }

  return {
    /** Never rejects. */
    async invoke(method: DirectMethod): Promise<DirectMethodResult> {
      const key = isSecret(access) ? currentOf(access) : '';
      const result = await invokeOnce(method);
      const isRefused = result.kind === 'failure' && result.failure === 'refused';
      if (!isRefused || !isSecret(access)) return result;
      // The hub has not passed it on: with another key it is sent once (D397).
      return (await renewed(access, key)) === key ? result : invokeOnce(method);
    },
    /** Ends all calls in progress; the methods may have run. */
    abort() {
      for (const abort of pending) abort();
    },
    close: requests.close,
  };
}

interface RestClient {
  readonly _config: { tokenCredential?: unknown; readonly sharedAccessSignature: { extend(expiry: number): string } };
  updateSharedAccessSignature(text: string): void;
}

/** A signature is valid for an hour, and is made anew after this time. */
const signatureMs = 5 * 60_000;

/** The hub's client. It is given the text for its header: else it would wait for a token, uncaptured, or sign each request. */
function callerFor(access: ServiceAccess, requests: ReturnType<typeof createHttpsRequests>): () => Promise<Client> {
  const client = newServiceClient(access);
  client.setRetryPolicy(noRetry); // the default retries methods for four minutes (fact methods.retries)
  const rest: RestClient = Reflect.get(client, '_restApiClient');
  Reflect.set(rest, '_http', requests);
  const { sharedAccessSignature: signature } = rest._config;
  delete rest._config.tokenCredential;
  let signedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (!isSecret(access)) rest.updateSharedAccessSignature(`Bearer ${(await access.credential.getToken()).token}`);
    else if (Math.abs(Date.now() - signedAt) >= signatureMs) {
      signedAt = Date.now(); // the clock that the signature names, which can be set (D180)
      rest.updateSharedAccessSignature(signature.extend(Math.ceil(signedAt / 1000) + 3_600));
    }
    return client;
  };
}

function readResult(result: unknown, text: string): DirectMethodResult {
  const { status, payload } = Object(result) as { readonly status?: unknown; readonly payload?: unknown };
  if (!Number.isSafeInteger(status)) return { kind: 'failure', failure: 'bad_reply', status: 200 };
  return { kind: 'response', status: Number(status), payload, text };
}

/** One request, as the client's caller sees it; not sent while it waits for a connection. */
type HttpsRequest = { wasSent: boolean; abort(): void };

/** Less than at the hub, so that no request uses a connection that the hub is closing. */
const idleMs = 20_000;
/** A request that waits longer for its connection fails unsent: without a limit, those of a hub that is out of reach would pile up. */
const connectMs = 10_000;
/** More than any response of the hub. */
const maxResponseBytes = 2 * 1024 * 1024;

/** HTTPS for the hub's client, in place of its own, which uses Node's (D356). @param hostName `name` or `name:port` */
function createHttpsRequests(hostName: string, ca?: string) {
  const pool = openPool(`https://${hostName}`, { connectMs, idleMs, ca });
  let captured: HttpsRequest | undefined;

  return {
    /** The client calls it to begin a request: the interface of its own module, as far as it is used. */
    buildRequest(
      method: Dispatcher.HttpMethod,
      path: string,
      headers: Record<string, string>,
      _: string,
      done: (error: Error | null, body?: string, response?: HttpsResponse) => void,
    ) {
      let body = '';
      let controller: Dispatcher.DispatchController | undefined;
      let isAborted = false;
      let received: Omit<HttpsResponse, 'text'> = { statusCode: 0, headers: {} };
      let bytes = 0;
      const joined = createJoined();
      const request = {
        wasSent: false,
        abort() {
          isAborted = true;
          controller?.abort(aborted());
        },
      };
      captured = request;

      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(started) {
          if (isAborted) return started.abort(aborted());
          controller = started;
          request.wasSent = true;
        },
        onResponseStart(_, statusCode, headersReceived) {
          received = { statusCode, headers: headersReceived };
        },
        onResponseData(current, piece) {
          bytes += piece.length;
          if (bytes > maxResponseBytes) current.abort(new Error('the response is too large'));
          else joined.add(piece);
        },
        onResponseEnd() {
          const text = joined.bytes().toString('utf8');
          const { statusCode } = received;
          done(statusCode >= 300 ? new Error(`HTTP ${statusCode}`) : null, text, { ...received, text });
        },
        onResponseError: (_, error) => done(error),
      };
      return {
        write(text: string) {
          body += text;
        },
        end: () => void pool.dispatch({ method, path, headers, body }, handler),
        /** Without effect: the caller limits the time. */
        setTimeout() {},
      };
    },
    /** Returns the request that the client begins during `start`; undefined when it begins none. */
    capture(start: () => void): HttpsRequest | undefined {
      captured = undefined;
      start();
      return captured;
    },
    close: (): void => void pool.destroy(),
  };
}

const aborted = () => new Error('the request was ended');
