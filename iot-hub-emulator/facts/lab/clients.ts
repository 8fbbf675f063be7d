import { Agent } from 'node:https';
import { EventHubConsumerClient, EventHubProducerClient } from '@azure/event-hubs';
import device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import iothub from 'azure-iothub';
import { IoTHubTokenCredentials } from 'azure-iothub/dist/auth/iothub_token_credentials.js';
import { IotHubGatewayServiceAPIs } from 'azure-iothub/dist/pl/iotHubGatewayServiceAPIs.js';
import { hostOf, type Target } from './target.ts';

/**
 * The official clients, unmodified, each without its retries: a refusal is what is asked for. A hub at another port, or with a
 * certificate of its own, is reached through options that applications have, too.
 */
export interface Clients {
  consumer(connectionString?: string, group?: string): EventHubConsumerClient;
  producer(): EventHubProducerClient;
  /** Not open. */
  service(connectionString?: string): iothub.Client;
  registry(connectionString?: string): iothub.Registry;
  /** What no client of `azure-iothub` offers, but its protocol layer does. */
  gateway(): IotHubGatewayServiceAPIs;
  /** Not open. */
  device(connectionString: string, transport?: 'mqtt' | 'amqp'): Promise<device.Client>;
}

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => 0 };
const once = { retryOptions: { maxRetries: 0, retryDelayInMs: 100, timeoutInMs: 20_000 } };

export function clientsOf({ hub, events, consumerGroup, ca }: Target): Clients {
  const [host = '', port] = hostOf(hub).split(':');
  const trust = ca === undefined ? {} : { ca };
  const agent =
    port === undefined && ca === undefined
      ? undefined
      : new Agent({ host, ...(port && { port: Number(port) }), ...trust });

  const viaAgent = <C extends iothub.Client | iothub.Registry>(client: C): C => {
    const rest = Reflect.get(client, '_restApiClient') as { setOptions(options: object): void };
    if (agent) rest.setOptions({ http: { agent } });
    return client;
  };

  return {
    consumer: (connectionString = events, group = consumerGroup) =>
      new EventHubConsumerClient(group, connectionString, once),
    producer: () => new EventHubProducerClient(events, once),
    service(connectionString = hub) {
      const client = iothub.Client.fromConnectionString(
        connectionString,
        ca === undefined ? iothub.Amqp : trusting(ca),
      );
      client.setRetryPolicy(noRetry);
      return viaAgent(client);
    },
    registry: (connectionString = hub) => viaAgent(iothub.Registry.fromConnectionString(connectionString)),
    gateway: () =>
      new IotHubGatewayServiceAPIs(new IoTHubTokenCredentials(hub), {
        baseUri: `https://${host}${port === undefined ? '' : `:${port}`}`,
        noRetryPolicy: true,
        ...(ca !== undefined && { agentSettings: { http: new Agent(trust), https: new Agent(trust) } }),
      }),
    async device(connectionString, transport = 'mqtt') {
      const client = device.Client.fromConnectionString(connectionString, transport === 'mqtt' ? mqtt.Mqtt : amqp.Amqp);
      client.setRetryPolicy(noRetry);
      if (ca !== undefined) await client.setOptions({ ca });
      return client;
    },
  };
}

/** The transport of the service client with an authority, which it takes from nobody else than its process. */
function trusting(ca: string): typeof iothub.Amqp {
  return class extends iothub.Amqp {
    constructor(config: iothub.Client.TransportConfigOptions) {
      super(config);
      const base = Reflect.get(this, '_amqp') as { connect(config: object, done: () => void): void };
      const connect = base.connect.bind(base);
      base.connect = (settings, done) => connect({ ...settings, sslOptions: { ca } }, done);
    }
  };
}
