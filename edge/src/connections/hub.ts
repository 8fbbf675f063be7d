import sdk from 'azure-iot-device';
import mqtt from 'azure-iot-device-mqtt';
import type { Answer } from '../answer.ts';
import type { Log } from '../log.ts';
import { inWords } from './inWords.ts';
import { createLives, type Life, type Lives, type Pauses, unlessAborted } from './lives.ts';

/** Answers what is invoked; never rejects. */
export type Invoked = (payload: unknown) => Promise<Answer>;

interface HubOptions {
  /** Of a device, or of a module of it. */
  readonly connectionString: string;
  readonly ca?: string;
  readonly invoked: Invoked;
  /** Nothing is in work, so that the connection can be made anew without harm. */
  readonly isIdle: () => boolean;
  readonly log: Log;
  readonly pauses?: Pauses;
  readonly token?: TokenLife;
}

/** In seconds. */
interface TokenLife {
  readonly valid: number;
  /** From then on the connection is made anew when nothing is in work. */
  readonly renewWhenIdle: number;
  /** Then it is made anew in any case. */
  readonly renew: number;
}

/** The name of the one direct method (M6). */
const methodName = 'invokeMethod';

/**
 * A token for a day: a clock that is hours behind must not make tokens that are out of date at the hub. The client's own
 * renewal, which ends for good when it fails once, would come a quarter of an hour before its end.
 */
const usualToken: TokenLife = { valid: 86_400, renewWhenIdle: 72_000, renew: 82_800 };
const usualPauses: Pauses = { firstMs: 1_000, longestMs: 60_000, longLifeMs: 60_000 };
const openMs = 20_000;
const closeMs = 3_000;
const keepAliveSeconds = 60;

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => 0 };

/** A connection to the hub that listens to `invokeMethod`, made anew when it ends. */
export function connectToHub(options: HubOptions): Lives<Life> {
  const { log, pauses = usualPauses, token = usualToken, isIdle } = options;
  const lives = createLives({
    name: 'the hub',
    open: (signal) => openHub({ ...options, token, onDue: () => lives.renew() }, signal),
    log,
    pauses,
    whenShort:
      'the hub ends each connection soon after it was made: does another program use the identity of this proxy?',
  });
  return lives;

  async function openHub(
    { connectionString, ca, invoked, onDue }: HubOptions & { token: TokenLife; onDue: () => void },
    signal: AbortSignal,
  ): Promise<Life> {
    const credentials = sdk.SharedAccessKeyAuthenticationProvider.fromConnectionString(connectionString, token.valid);
    const client = /(?:^|;)\s*ModuleId=/.test(connectionString)
      ? sdk.ModuleClient.fromAuthenticationProvider(credentials, mqtt.Mqtt)
      : sdk.Client.fromAuthenticationProvider(credentials, mqtt.Mqtt);
    client.setRetryPolicy(noRetry); // its own hides what is wrong for minutes, and may give up
    const ended = new Promise<string>((resolve) => {
      client.on('disconnect', (cause: unknown) => resolve(inWords(cause)));
      client.on('error', (cause: unknown) => resolve(inWords(cause)));
    });
    let due: NodeJS.Timeout | undefined;
    const life: Life = {
      ended,
      async close() {
        clearInterval(due);
        await within(client.close(), closeMs).catch(() => {});
      },
    };

    const answer = (request?: Request, response?: Response) => {
      invoked(request?.payload)
        .then(({ status, payload }) => response?.send(status, payload))
        .catch((error: unknown) => log.warn({ reason: inWords(error) }, 'an answer did not reach the hub'));
    };

    try {
      const opening = (async () => {
        await client.setOptions({ keepalive: keepAliveSeconds, ...(ca !== undefined && { ca }) });
        await client.open();
        if (client instanceof sdk.ModuleClient) client.onMethod(methodName, answer);
        else client.onDeviceMethod(methodName, answer);
        // The client does not say when its subscription holds. The hub takes packets in order, and answers this one.
        await client.getTwin();
      })();
      await within(unlessAborted(Promise.race([opening, rejectWhen(ended)]), signal), openMs);
    } catch (error) {
      await life.close();
      throw new Error(inWords(error));
    }

    const began = performance.now();
    due = setInterval(() => {
      const seconds = (performance.now() - began) / 1000;
      if (seconds > token.renew || (seconds > token.renewWhenIdle && isIdle())) onDue();
    }, token.valid).unref(); // a thousand times in its life
    return life;
  }
}

type Request = InstanceType<typeof sdk.DeviceMethodRequest>;
type Response = InstanceType<typeof sdk.DeviceMethodResponse>;

const rejectWhen = async (happens: Promise<string>): Promise<never> => {
  throw new Error(await happens);
};

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  work.catch(() => {});
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
