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
 * The official clients, unmodified, each without its retries: a refusal is what is asked for. A hub at another port is
 * reached through an agent, as applications do.
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
  device(connectionString: string, transport?: 'mqtt' | 'amqp'): device.Client;
}

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => 0 };
const once = { retryOptions: { maxRetries: 0, retryDelayInMs: 100, timeoutInMs: 20_000 } };

export function clientsOf({ hub, events, consumerGroup }: Target): Clients {
  const [host = '', port] = hostOf(hub).split(':');
  const agent = port === undefined ? undefined : new Agent({ host, port: Number(port) });

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
      const client = iothub.Client.fromConnectionString(connectionString);
      client.setRetryPolicy(noRetry);
      return viaAgent(client);
    },
    registry: (connectionString = hub) => viaAgent(iothub.Registry.fromConnectionString(connectionString)),
    gateway: () =>
      new IotHubGatewayServiceAPIs(new IoTHubTokenCredentials(hub), {
        baseUri: `https://${host}${port === undefined ? '' : `:${port}`}`,
        noRetryPolicy: true,
      }),
    device(connectionString, transport = 'mqtt') {
      const client = device.Client.fromConnectionString(connectionString, transport === 'mqtt' ? mqtt.Mqtt : amqp.Amqp);
      client.setRetryPolicy(noRetry);
      return client;
    },
  };
}
