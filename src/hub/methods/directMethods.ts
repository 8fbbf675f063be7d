import type { ServiceAccess } from '../../identity/access.ts';
import type { ScopedTokens } from '../../identity/identity.ts';
import { currentOf, isSecret, renewed, whenChanged } from '../../identity/secretFiles.ts';
import type { MethodFailure } from '../../protocol/vocabulary.ts';
import { clientFor } from '../replies/identityClient.ts';
import { createHttpsRequests, type HttpsRequests, type HttpsResponse } from './httpsRequests.ts';
import { type HubError, readHubError } from './hubError.ts';

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

export interface DirectMethods {
  /** Sends a direct method once. Never rejects. */
  invoke(method: DirectMethod): Promise<DirectMethodResult>;
  /** Ends all calls in progress; the methods may have run. */
  abort(): void;
  close(): void;
}

/** The only direct method of devices and edge proxies (M6; fact methods.answer). */
const methodName = 'invokeMethod';

/** For the network, after the time-out of the hub. Without it a dead connection would never be detected (M6). */
const graceMs = 5_000;

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => -1 };

/**
 * @param access with the service connect right, or an identity that may invoke methods
 * @param ca certificate authorities to trust instead of the usual ones, PEM
 */
export function createDirectMethods(access: ServiceAccess, ca?: string): DirectMethods {
  const requests = createHttpsRequests(hostNameOf(access), ca);
  const pending = new Set<() => void>();
  let caller = callerFor(access, requests);
  whenChanged(access, () => {
    caller = callerFor(access, requests);
  });

  async function invokeOnce({ device, module, payload, timeoutSeconds }: DirectMethod): Promise<DirectMethodResult> {
    const { client, authorize } = caller;
    const authorized = await authorize?.().catch(() => 'no token' as const);
    if (authorized === 'no token') return { kind: 'failure', failure: 'unavailable' };
    return new Promise((resolve) => {
      const parameters = {
        methodName,
        payload,
        responseTimeoutInSeconds: timeoutSeconds,
        connectTimeoutInSeconds: 0,
      };
      const wasSent = () => request?.sentAt() !== undefined;
      const settle = (result: DirectMethodResult) => {
        clearTimeout(timer);
        pending.delete(abort);
        resolve(result);
      };
      const done = (error: Error | null | undefined, result?: unknown, response?: unknown) =>
        settle(
          error
            ? { kind: 'failure', ...readHubError(error, wasSent()) }
            : readResult(result, (response as HttpsResponse).text),
        );
      const request = requests.capture(() =>
        module === ''
          ? client.invokeDeviceMethod(device, parameters, done)
          : client.invokeDeviceMethod(device, module, parameters, done),
      );
      const end = (unsent: MethodFailure, sent: MethodFailure) => {
        settle({ kind: 'failure', failure: wasSent() ? sent : unsent });
        request?.abort();
      };
      const abort = () => end('stopped_unsent', 'stopped');
      const timer = setTimeout(() => end('unavailable', 'no_reply'), timeoutSeconds * 1000 + graceMs);
      pending.add(abort);
    });
  }

  return {
    async invoke(method) {
      const key = isSecret(access) ? currentOf(access) : '';
      const result = await invokeOnce(method);
      const isRefused = result.kind === 'failure' && result.failure === 'refused';
      if (!isRefused || !isSecret(access)) return result;
      // The hub has not passed it on: with another key it is sent once (D397).
      return (await renewed(access, key)) === key ? result : invokeOnce(method);
    },
    abort() {
      for (const abort of pending) abort();
    },
    close: requests.close,
  };
}

const hostNameOf = (access: ServiceAccess): string =>
  isSecret(access) ? (/(?:^|;)\s*HostName=([^;]+)/.exec(currentOf(access))?.[1] ?? '') : access.hostName;

/** The hub's client, with the key of the moment, and what gets the next token of an identity. */
function callerFor(access: ServiceAccess, requests: HttpsRequests) {
  const client = clientFor(access);
  client.setRetryPolicy(noRetry); // the default retries methods for four minutes (fact methods.retries)
  const rest: RestClient = Reflect.get(client, '_restApiClient');
  Reflect.set(rest, '_http', requests);
  return { client, authorize: isSecret(access) ? undefined : authorizing(rest, access.credential) };
}

/** What sends the client's requests. */
interface RestClient {
  setOptions(options: object): void;
  updateSharedAccessSignature(text: string): void;
}

/**
 * With an identity the client would begin a request only when it has got a token, so that the request could not be captured.
 * This gets the token first, and gives it to the client as the text for the header that it otherwise has a signature for.
 */
function authorizing(rest: RestClient, credential: ScopedTokens): () => Promise<void> {
  const config: { tokenCredential?: unknown } = Reflect.get(rest, '_config');
  delete config.tokenCredential;
  return async () => {
    const { token } = await credential.getToken();
    rest.updateSharedAccessSignature(`Bearer ${token}`);
  };
}

function readResult(result: unknown, text: string): DirectMethodResult {
  if (typeof result === 'object' && result !== null) {
    const { status, payload } = result as { readonly status?: unknown; readonly payload?: unknown };
    if (Number.isSafeInteger(status)) return { kind: 'response', status: Number(status), payload, text };
  }
  return { kind: 'failure', failure: 'bad_reply', status: 200 };
}
