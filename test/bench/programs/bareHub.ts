import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import rhea, { type Connection, type EventContext, type Sender } from 'rhea';
import { environment, keyIn, policyIn } from './environment.ts';

/** The hub over bare rhea: what the least programs receive and send with. */

const { hubName, amqpPort, amqpsPort, partitions, eventsConnectionString, serviceConnectionString } = environment;
const credit = 300;

function signature(audience: string, connectionString: string, encoding: 'utf8' | 'base64'): string {
  const resource = encodeURIComponent(audience);
  const expiry = Math.floor(Date.now() / 1000) + 3600;
  const key = Buffer.from(keyIn(connectionString), encoding);
  const signed = encodeURIComponent(createHmac('sha256', key).update(`${resource}\n${expiry}`).digest('base64'));
  return `SharedAccessSignature sr=${resource}&sig=${signed}&se=${expiry}&skn=${policyIn(connectionString)}`;
}

async function authorized(connection: Connection, audience: string, token: string): Promise<Connection> {
  const replies = connection.open_receiver({ source: '$cbs', target: 'answers' });
  const requests = connection.open_sender('$cbs');
  await once(requests, 'sendable');
  requests.send({
    message_id: 'token',
    reply_to: 'answers',
    application_properties: { operation: 'put-token', type: 'servicebus.windows.net:sastoken', name: audience },
    body: token,
  });
  await once(replies, 'message');
  return connection;
}

async function connect(port: number, transport: 'tcp' | 'tls'): Promise<Connection> {
  const connection = rhea.create_container().connect({ host: 'localhost', port, transport, reconnect: false } as never);
  await once(connection, 'connection_open');
  return connection;
}

const events = await authorized(
  await connect(amqpPort, 'tcp'),
  `sb://127.0.0.1/${hubName}`,
  signature(`sb://127.0.0.1/${hubName}`, eventsConnectionString, 'utf8'),
);
const service = await authorized(
  await connect(amqpsPort, 'tls'),
  'localhost',
  signature('localhost', serviceConnectionString, 'base64'),
);
const sender: Sender = service.open_sender('/messages/devicebound');
await once(sender, 'sendable');

const unsent: object[] = [];

function flush(): void {
  while (unsent.length > 0 && sender.sendable()) sender.send(unsent.shift() as never);
}
sender.on('sendable', flush);

/** Sends a message to a device as soon as the hub allows it. */
export function send(message: object): void {
  unsent.push(message);
  flush();
}

export function receive(take: (message: NonNullable<EventContext['message']>) => void): void {
  for (let partition = 0; partition < partitions; partition += 1) {
    const receiver = events.open_receiver({
      source: {
        address: `${hubName}/ConsumerGroups/$Default/Partitions/${partition}`,
        filter: rhea.filter.selector("amqp.annotation.x-opt-offset > '-1'"),
      },
      credit_window: credit,
    });
    receiver.on('message', ({ message }) => {
      if (message !== undefined) take(message);
    });
  }
}
