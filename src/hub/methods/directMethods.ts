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
  /** Sends a direct method, once. Never rejects. */
  invoke(method: DirectMethod): Promise<DirectAnswer>;
  /** Ends every wait for an answer; the methods may have run. */
  breakOff(): void;
  close(): void;
}

/** The name of the one direct method that devices and edge proxies listen to (M6). */
const methodName = 'invokeMethod';

/** What the client adds is for the way; a dead connection would otherwise never be noticed (M6). */
const graceMs = 5_000;

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => -1 };

/**
 * @param connectionString with the service connect right
 * @param ca certificate authorities to trust instead of the usual ones, PEM
 */
export function createDirectMethods(connectionString: string, ca?: string): DirectMethods {
  const hostName = /(?:^|;)\s*HostName=([^;]+)/.exec(connectionString)?.[1] ?? '';
  const requests = createRequests(hostName, ca);
  const client = Client.fromConnectionString(connectionString);
  client.setRetryPolicy(noRetry); // its default repeats for four minutes, methods too
  const rest: { setOptions(options: object): void } = Reflect.get(client, '_restApiClient');
  rest.setOptions({ http: { agent: requests.agent } });

  const waiting = new Set<() => void>();

  return {
    invoke: ({ device, module, payload, timeoutSeconds }) =>
      new Promise((resolve) => {
        const parameters = {
          methodName,
          payload,
          responseTimeoutInSeconds: timeoutSeconds,
          connectTimeoutInSeconds: 0,
        };
        let sentAt: number | undefined;
        const sinceSent = () => (sentAt === undefined ? undefined : performance.now() - sentAt);
        const settle = (answer: DirectAnswer) => {
          clearTimeout(timer);
          waiting.delete(breakOff);
          resolve(answer);
        };
        const done = (error: Error | null | undefined, result?: unknown) =>
          settle(error ? { kind: 'failure', ...readHubError(error, sinceSent()) } : readResult(result));
        const request = requests.begunBy(() =>
          module === ''
            ? client.invokeDeviceMethod(device, parameters, done)
            : client.invokeDeviceMethod(device, module, parameters, done),
        );
        request?.once('finish', () => {
          sentAt = performance.now();
        });
        const breakOff = () => {
          settle({ kind: 'failure', failure: sentAt === undefined ? 'unavailable' : 'no_reply' });
          request?.destroy();
        };
        const timer = setTimeout(breakOff, timeoutSeconds * 1000 + graceMs);
        waiting.add(breakOff);
      }),
    breakOff() {
      for (const breakOff of waiting) breakOff();
    },
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
