import { outboundAgent } from '@device-messaging/telemetry/outbound.ts';
import sdk from 'azure-iot-device';
import mqtt from 'azure-iot-device-mqtt';
import { type HubCredentials, partOf } from '../configuration/checks.ts';
import { type Configuration, defined } from '../configuration/read.ts';
import { errorMessage } from '../connections/network.ts';
import {
  type Backoff,
  type Connection,
  createReconnecting,
  type Reconnecting,
  unlessAborted,
  within,
} from '../connections/reconnecting.ts';
import type { Log } from '../observing/log.ts';
import type { Meter } from '../observing/metrics.ts';
import type { MethodResponse } from './invocation.ts';

interface HubOptions {
  /** As it is when a connection is opened. */
  readonly access: () => Configuration['hub'];
  /** Must not reject. */
  readonly onInvocation: (payload: unknown) => Promise<MethodResponse>;
  /** No invocation is in progress, so a reconnect interrupts none. */
  readonly isIdle: () => boolean;
  readonly log: Log;
  readonly backoff?: Backoff;
  readonly token?: TokenLifetime;
  readonly meter: Meter;
}

/** In seconds. */
interface TokenLifetime {
  readonly valid: number;
  /** After this time the connection is renewed as soon as it is idle. */
  readonly renewWhenIdle: number;
  /** After this time the connection is renewed even if it is not idle. */
  readonly renew: number;
}

/** The only direct method (M6). */
const methodName = 'invokeMethod';

/**
 * One day, so that a device whose clock is hours behind does not send expired tokens. The renewals come before the
 * client's own, 15 minutes before expiry, which stops for good after one failure.
 */
const defaultToken: TokenLifetime = { valid: 86_400, renewWhenIdle: 72_000, renew: 82_800 };
const defaultBackoff: Backoff = { initialMs: 1_000, maxMs: 60_000, stableAfterMs: 60_000 };
const openMs = 20_000;
const closeMs = 3_000;
const keepAliveSeconds = 60;
const maxLoggedLength = 256;

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => 0 };

export function connectToHub(options: HubOptions): Reconnecting<Connection> {
  const { access, onInvocation, isIdle, log, meter, backoff = defaultBackoff, token = defaultToken } = options;
  const countLost = meter.counter('device_messaging.edge.responses.lost');
  const refuse = (method: string) =>
    log.warn({ method: method.slice(0, maxLoggedLength) }, 'a direct method other than invokeMethod was refused');
  const hub = createReconnecting({
    name: 'the hub',
    ...{ open, log, backoff, meter },
    unstableMessage:
      'the hub closes each connection soon after it opens: does another program use the identity of this proxy?',
  });
  return hub;

  async function open(signal: AbortSignal): Promise<Connection> {
    const { ca, webSockets, ...identity } = access();
    const transport = methodTransport(refuse, webSockets);
    const credentials = createCredentials(identity, token.valid);
    const client =
      partOf(identity.connectionString, 'ModuleId') !== undefined
        ? sdk.ModuleClient.fromAuthenticationProvider(credentials, transport)
        : sdk.Client.fromAuthenticationProvider(credentials, transport);
    client.setRetryPolicy(noRetry); // the client's own retries hide errors for minutes, and may stop
    const closed = new Promise<string>((resolve) => {
      client.on('disconnect', (error: unknown) => resolve(errorMessage(error)));
      client.on('error', (error: unknown) => resolve(errorMessage(error)));
    });
    let renewal: NodeJS.Timeout | undefined;
    const connection: Connection = {
      closed,
      async close() {
        clearInterval(renewal);
        await within(client.close(), closeMs).catch(() => {});
      },
    };

    type Respond = InstanceType<typeof sdk.DeviceMethodResponse>;
    const onMethod = (request?: InstanceType<typeof sdk.DeviceMethodRequest>, response?: Respond) => {
      onInvocation(request?.payload)
        .then(({ status, payload }) => response?.send(status, payload))
        .catch((error: unknown) => {
          countLost();
          log.warn({ reason: errorMessage(error) }, 'a response did not reach the hub');
        });
    };

    try {
      const opening = (async () => {
        await client.setOptions({
          keepalive: keepAliveSeconds,
          ...(ca !== undefined && { ca }),
          ...(webSockets && { mqtt: { webSocketAgent: outboundAgent } }),
        });
        await client.open();
        if (client instanceof sdk.ModuleClient) client.onMethod(methodName, onMethod);
        else client.onDeviceMethod(methodName, onMethod);
        // The client does not report when it is subscribed. The hub answers packets in order, so after this one it is.
        await client.getTwin();
      })();
      const failed = closed.then((reason) => Promise.reject(new Error(reason)));
      await within(unlessAborted(Promise.race([opening, failed]), signal), openMs);
    } catch (error) {
      await connection.close();
      throw new Error(errorMessage(error));
    }

    if (identity.certificate !== undefined) return connection; // there is no token to renew
    const openedAt = performance.now();
    renewal = setInterval(() => {
      const seconds = (performance.now() - openedAt) / 1000;
      if (seconds > token.renew || (seconds > token.renewWhenIdle && isIdle())) hub.renew();
    }, token.valid).unref(); // every thousandth of the lifetime
    return connection;
  }
}

/**
 * With what the hub's client signs in (D426). `tokenSeconds` is how long the tokens of a key are valid.
 * @throws Error for a connection string that is none
 */
export function createCredentials({ connectionString, certificate, key }: HubCredentials, tokenSeconds: number) {
  if (certificate === undefined || key === undefined)
    return sdk.SharedAccessKeyAuthenticationProvider.fromConnectionString(connectionString, tokenSeconds);
  const part = (name: string) => partOf(connectionString, name);
  return new sdk.X509AuthenticationProvider({
    ...{ host: part('HostName') ?? '', deviceId: part('DeviceId') ?? '', x509: { cert: certificate, key } },
    ...defined({ moduleId: part('ModuleId'), gatewayHostName: part('GatewayHostName') }),
  });
}

/** Over WebSockets the client has the port fixed, so that an address with another one breaks. */
class MqttOverWebSockets extends mqtt.MqttWs {
  /** @param credentials with hosts that are `name`, `name:port` or `[address]:port` */
  protected override _getBaseTransportConfig(credentials: {
    readonly gatewayHostName?: string;
    readonly host: string;
  }) {
    const { gatewayHostName, host } = credentials;
    const config = super._getBaseTransportConfig(credentials as never);
    return Object.assign(config, { uri: `wss://${gatewayHostName || host}/$iothub/websocket` });
  }
}

/** What the transport tells of a direct method. */
interface MethodMessage {
  readonly requestId: string;
  readonly methods: { readonly methodName: string };
}

/**
 * MQTT to the hub, with a 404 for direct methods without a listener (M6). The client leaves them without an answer, so
 * that their callers would wait for the whole time-out.
 * @param onUnknown called with each of them
 */
function methodTransport(onUnknown: (methodName: string) => void, isOverWebSockets: boolean) {
  const Transport: typeof mqtt.Mqtt = isOverWebSockets ? MqttOverWebSockets : mqtt.Mqtt;
  return class extends Transport {
    override emit(event: string | symbol, ...given: unknown[]): boolean {
      const isHeard = super.emit(event, ...given);
      if (!isHeard && String(event).startsWith('method_')) {
        const { requestId, methods } = given[0] as MethodMessage;
        onUnknown(methods.methodName);
        const detail = 'the edge proxy has no other direct method than invokeMethod';
        new sdk.DeviceMethodResponse(requestId, this).send(404, { detail, invoked: 'no' }).catch(() => {});
      }
      return isHeard;
    }
  };
}
