import { Agent } from 'node:https';
import { Socket } from 'node:net';
import { EventHubConsumerClient } from '@azure/event-hubs';
import device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import http from 'azure-iot-device-http';
import mqtt from 'azure-iot-device-mqtt';
import iothub from 'azure-iothub';
import { WebSocket } from 'ws';

// A program of its own, started with NODE_EXTRA_CA_CERTS: each official client, as an application uses it, with and without
// a port in its connection string, with and without an agent. argv: what the hub printed, as JSON. Prints the outcomes.

const hub: { device: string; owner: string; events: string; https: number; amqps: number; deviceId: string } =
  JSON.parse(process.argv[2] ?? '{}');
const limitMs = 5000;

// where the clients of this process connect to
const reached: number[] = [];
const connect = Socket.prototype.connect;
Socket.prototype.connect = function (this: Socket, ...parameters: unknown[]) {
  const [first] = parameters.flat() as [{ host?: string; port?: number | string } | undefined];
  if (first?.host === 'localhost' || first?.host === '127.0.0.1') reached.push(Number(first.port));
  return Reflect.apply(connect, this, parameters);
} as typeof connect;

const agent = new Agent({ host: 'localhost', port: hub.https });

/** The device client with a transport; `agentFor` says where it takes an agent, if it does. */
const deviceWith =
  (Transport: Parameters<typeof device.Client.fromConnectionString>[1], agentFor: object) =>
  async (address: (text: string) => string, hasAgent: boolean) => {
    const client = device.Client.fromConnectionString(address(hub.device), Transport);
    client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => 0 });
    client.on('error', () => undefined);
    if (hasAgent) await client.setOptions(agentFor);
    await client.open();
    await client.sendEvent(new device.Message('x'));
    await client.close();
  };

const serviceWith = (Transport: typeof iothub.Amqp) => async (address: (text: string) => string) => {
  const client = iothub.Client.fromConnectionString(address(hub.owner), Transport);
  client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => 0 });
  await client.open();
  await client.send(hub.deviceId, new device.Message('x') as never);
  await client.close();
};

const registry = async (address: (text: string) => string, hasAgent: boolean) => {
  const client = iothub.Registry.fromConnectionString(address(hub.owner));
  const rest = Reflect.get(client, '_restApiClient') as { setOptions(options: object): void };
  if (hasAgent) rest.setOptions({ http: { agent } });
  await client.get(hub.deviceId);
};

const overTls = hub.events
  .replace(/127\.0\.0\.1(:\d+)?/, `localhost:${hub.amqps}`)
  .replace(';UseDevelopmentEmulator=true', '');

const events =
  (text: string, hasWebSocket: boolean) => async (address: (text: string) => string, hasAgent: boolean) => {
    const webSocketConstructorOptions = hasAgent ? { agent } : {};
    const client = new EventHubConsumerClient('$Default', address(text), {
      retryOptions: { maxRetries: 0, retryDelayInMs: 10, timeoutInMs: limitMs },
      ...(hasWebSocket ? { webSocketOptions: { webSocket: WebSocket, webSocketConstructorOptions } } : {}),
    });
    try {
      await client.getPartitionIds();
    } finally {
      await client.close();
    }
  };

const withPort = (text: string) => text;
const withoutPort = (text: string) => text.replace(/(localhost|127\.0\.0\.1):\d+/, '$1');

type Attempt = (address: (text: string) => string, hasAgent: boolean) => Promise<void>;
const clients: [client: string, transport: string, takesAgent: boolean, attempt: Attempt][] = [
  ['azure-iot-device', 'Mqtt', false, deviceWith(mqtt.Mqtt, {})],
  ['azure-iot-device', 'MqttWs', true, deviceWith(mqtt.MqttWs, { mqtt: { webSocketAgent: agent } })],
  ['azure-iot-device', 'Amqp', false, deviceWith(amqp.Amqp, {})],
  ['azure-iot-device', 'AmqpWs', true, deviceWith(amqp.AmqpWs, { amqp: { webSocketAgent: agent } })],
  ['azure-iot-device', 'Http', true, deviceWith(http.Http, { http: { agent, receivePolicy: { interval: 1 } } })],
  ['azure-iothub', 'Amqp', false, serviceWith(iothub.Amqp)],
  ['azure-iothub', 'AmqpWs', false, serviceWith(iothub.AmqpWs)],
  ['azure-iothub', 'HTTPS', true, registry],
  ['@azure/event-hubs', 'TCP', false, events(hub.events, false)],
  ['@azure/event-hubs', 'TLS', false, events(overTls, false)],
  ['@azure/event-hubs', 'WebSockets', true, events(overTls, true)],
];

const outcomeOf = async (attempt: Promise<void>): Promise<string> => {
  const works = await Promise.race([
    attempt.then(
      () => true,
      () => false,
    ),
    new Promise<false>((resolve) => setTimeout(resolve, limitMs, false)),
  ]);
  const port = reached.at(-1);
  if (works) return 'works';
  return port === undefined ? 'broken address' : `port ${port}`;
};

const rows: string[][] = [];
for (const [client, transport, takesAgent, attempt] of clients) {
  const row = [client, transport];
  for (const address of [withPort, withoutPort])
    for (const hasAgent of [false, true]) {
      reached.length = 0;
      row.push(hasAgent && !takesAgent ? 'no agent' : await outcomeOf(attempt(address, hasAgent)));
    }
  rows.push(row);
}
process.stdout.write(JSON.stringify(rows), () => process.exit());
