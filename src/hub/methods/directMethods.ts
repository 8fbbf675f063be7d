import { Client } from 'azure-iothub';
import { type HubError, readHubError } from './hubError.ts';
import { createRequests } from './requests.ts';

/** A direct method as it is sent. */
export interface DirectMethod {
  readonly device: string;
  /** Empty: the device itself. */
  readonly module: string;
  readonly payload: object | null;
  /** The hub takes 5 to 300. */
  readonly timeoutSeconds: number;
}

export type DirectAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly payload: unknown }
  | ({ readonly kind: 'failure' } & HubError);

/** Direct methods through the hub. */
export interface DirectMethods {
  /**
   * Sends a direct method, once. Never rejects.
   * @param broken ends the wait; the method may have run
   */
  invoke(method: DirectMethod, broken?: AbortSignal): Promise<DirectAnswer>;
  close(): void;
}

/** The name of the one direct method that devices and edge proxies listen to (M6). */
const methodName = 'invokeMethod';

/** What the client adds is for the way; a dead connection would otherwise never be noticed (M6). */
const graceMs = 5_000;

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => -1 };

/** @param connectionString with the service connect right */
export function createDirectMethods(connectionString: string): DirectMethods {
  const hostName = /(?:^|;)\s*HostName=([^;]+)/.exec(connectionString)?.[1] ?? '';
  const requests = createRequests(hostName);
  const client = Client.fromConnectionString(connectionString);
  client.setRetryPolicy(noRetry); // its default repeats for four minutes, methods too
  const rest: { setOptions(options: object): void } = Reflect.get(client, '_restApiClient');
  rest.setOptions({ http: { agent: requests.agent } });

  return {
    invoke: ({ device, module, payload, timeoutSeconds }, broken) =>
      new Promise((resolve) => {
        const parameters = {
          methodName,
          payload,
          responseTimeoutInSeconds: timeoutSeconds,
          connectTimeoutInSeconds: 0,
        };
        let wasSent = false;
        const settle = (answer: DirectAnswer) => {
          clearTimeout(timer);
          broken?.removeEventListener('abort', breakOff);
          resolve(answer);
        };
        const done = (error: Error | null | undefined, result?: unknown) =>
          settle(error ? { kind: 'failure', ...readHubError(error, wasSent) } : readResult(result));
        const request = requests.begunBy(() =>
          module === ''
            ? client.invokeDeviceMethod(device, parameters, done)
            : client.invokeDeviceMethod(device, module, parameters, done),
        );
        request?.once('finish', () => {
          wasSent = true;
        });
        const breakOff = () => {
          settle({ kind: 'failure', failure: wasSent ? 'no_reply' : 'unavailable' });
          request?.destroy();
        };
        const timer = setTimeout(breakOff, timeoutSeconds * 1000 + graceMs);
        if (broken?.aborted) breakOff();
        else broken?.addEventListener('abort', breakOff, { once: true });
      }),
    close: requests.close,
  };
}

function readResult(result: unknown): DirectAnswer {
  if (typeof result === 'object' && result !== null) {
    const { status, payload } = result as { readonly status?: unknown; readonly payload?: unknown };
    if (Number.isSafeInteger(status)) return { kind: 'answer', status: Number(status), payload };
  }
  return { kind: 'failure', failure: 'bad_reply', status: 200 };
}
