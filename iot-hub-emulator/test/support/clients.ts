import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import {
  EventHubConsumerClient,
  type EventPosition,
  type ReceivedEventData,
  type SubscribeOptions,
  type Subscription,
} from '@azure/event-hubs';
import device from 'azure-iot-device';
import mqtt from 'azure-iot-device-mqtt';
import iothub from 'azure-iothub';
import type { Hub } from '../../src/hub.ts';
import { createChanges } from './changes.ts';

type Transport = Parameters<typeof device.Client.fromConnectionString>[1];

/** The official device client, over MQTT unless told, trusting the hub's authority; not yet open. */
export const deviceClient = async (
  hub: Hub,
  deviceId: string,
  connectionString = hub.deviceConnectionString(deviceId),
  transport: Transport = mqtt.Mqtt,
): Promise<device.Client> => trusting(hub, device.Client.fromConnectionString(connectionString, transport));

export async function moduleClient(
  hub: Hub,
  deviceId: string,
  moduleId: string,
  transport: Transport = mqtt.Mqtt,
): Promise<device.ModuleClient> {
  const connectionString = hub.deviceConnectionString(deviceId, moduleId);
  return trusting(hub, device.ModuleClient.fromConnectionString(connectionString, transport));
}

async function trusting<C extends device.Client | device.ModuleClient>(hub: Hub, client: C): Promise<C> {
  client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => 0 });
  await client.setOptions({ ca: readFileSync(hub.caFile, 'utf8') });
  return client;
}

export function deviceMessage(body: string | Buffer, properties: Record<string, string> = {}): device.Message {
  const message = new device.Message(body);
  for (const [name, value] of Object.entries(properties)) message.properties.add(name, value);
  return message;
}

export async function nextMessage(client: device.Client): Promise<device.Message> {
  const [message] = await once(client, 'message');
  return message as device.Message;
}

/** What the official event client received, and the errors it met. */
export type Listening = ReturnType<typeof listenToEvents>;

/** Subscribe with the official event client: to one partition, or to all. */
export function listenToEvents(
  hub: Hub,
  options: { startPosition: EventPosition; connectionString?: string; ownerLevel?: number } & Partial<
    Record<'partition' | 'group', string>
  >,
) {
  const { startPosition, partition, group = '$Default', connectionString = hub.eventsConnectionString } = options;
  const client = new EventHubConsumerClient(group, connectionString, {
    retryOptions: { maxRetries: 0, retryDelayInMs: 100, timeoutInMs: 5000 },
  });
  const events: ReceivedEventData[] = [];
  const errors: (Error & { code?: string })[] = [];
  const { changed, until } = createChanges();
  const handlers = {
    processEvents: async (batch: ReceivedEventData[]) => {
      events.push(...batch);
      changed();
    },
    processError: async (error: Error) => {
      errors.push(error);
      changed();
    },
  };
  const settings: SubscribeOptions = {
    ...{ startPosition, maxBatchSize: 10, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
    ...(options.ownerLevel === undefined ? {} : { ownerLevel: options.ownerLevel }),
  };
  const subscription: Subscription =
    partition === undefined ? client.subscribe(handlers, settings) : client.subscribe(partition, handlers, settings);
  return {
    events,
    errors,
    /** Resolves when there are at least so many events. */
    has: (count: number) => until(() => (events.length >= count ? events : undefined)),
    failed: () => until(() => errors[0]),
    async stop() {
      await subscription.close();
      await client.close();
    },
  };
}

/** A transport of the official service client that connects with these settings besides its own. */
export const withSettings = (Transport: typeof iothub.Amqp, more: object): typeof iothub.Amqp =>
  class extends Transport {
    constructor(config: iothub.Client.TransportConfigOptions) {
      super(config);
      const base = Reflect.get(this, '_amqp') as { connect(config: object, done: () => void): void };
      const connect = base.connect.bind(base);
      base.connect = (settings, done) => connect({ ...settings, ...more }, done);
    }
  };

/** The official service client with all but its addressing real: it trusts the hub's authority, in this process. */
export function serviceClient(hub: Hub, connectionString = hub.serviceConnectionString): iothub.Client {
  const transport = withSettings(iothub.Amqp, { sslOptions: { ca: readFileSync(hub.caFile, 'utf8') } });
  const client = viaAgent(hub, iothub.Client.fromConnectionString(connectionString, transport));
  client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => 0 });
  return client;
}

type ServiceMessage = Parameters<iothub.Client['send']>[1];

/** A message for the official service client, which exports no class of its own for it. */
export function serviceMessage(
  body: string | Buffer,
  settings: { messageId?: string; correlationId?: string; properties?: Record<string, string> } = {},
): ServiceMessage {
  const message = new device.Message(body);
  if (settings.messageId !== undefined) message.messageId = settings.messageId;
  if (settings.correlationId !== undefined) message.correlationId = settings.correlationId;
  message.contentType = 'application/json';
  message.contentEncoding = 'utf-8';
  for (const [name, value] of Object.entries(settings.properties ?? {})) message.properties.add(name, value);
  return message as unknown as ServiceMessage;
}

const agents = new WeakMap<Hub, Agent>();

/** An agent that leads every HTTPS request and WebSocket of an official client to the hub, whatever its address says. */
export function agentOf(hub: Hub): Agent {
  const agent =
    agents.get(hub) ?? new Agent({ host: 'localhost', port: hub.ports.https, ca: readFileSync(hub.caFile, 'utf8') });
  agents.set(hub, agent);
  return agent;
}

type Asked = Readonly<{ headers?: object; body?: string | Buffer; tls?: object }>;

/** A request over HTTPS without a client. */
export async function askRest(hub: Hub, method: string, path: string, { headers = {}, body = '', tls }: Asked = {}) {
  const agent = tls ? undefined : agentOf(hub);
  const asked = request(`${hub.restUrl}${path}`, { method, agent, headers: { ...headers }, ...tls }).end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** Lead the REST calls of an official client to the hub, as an application does. */
export function viaAgent<C extends iothub.Client | iothub.Registry>(hub: Hub, client: C): C {
  const rest = Reflect.get(client, '_restApiClient') as { setOptions(options: object): void };
  rest.setOptions({ http: { agent: agentOf(hub) } });
  return client;
}

export const registryClient = (hub: Hub, policy = 'registryReadWrite'): iothub.Registry =>
  viaAgent(hub, iothub.Registry.fromConnectionString(hub.connectionString(policy)));

/** The name of the error with which something ends; `none` without one. */
export const nameOfError = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'none',
    (error: Error) => error.constructor.name,
  );

/** The outcome of a call-back in the style of the device clients, as a promise. */
export const called = <T>(call: (done: (error: Error | null | undefined, result?: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => call((error, result) => (error ? reject(error) : resolve(result as T))));
