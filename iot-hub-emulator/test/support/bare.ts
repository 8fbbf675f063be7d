import { once } from 'node:events';
import rhea, { type Connection, type EventContext, type Message, type Receiver, type Sender } from 'rhea';
import type { Hub } from '../../src/hub.ts';
import { signSas } from '../../src/identity/sas.ts';

const ofConnections = ['disconnected', 'connection_error', 'connection_close', 'error'];
const quiet = [...ofConnections, 'receiver_error', 'sender_error', 'sender_close', 'receiver_close'];

/** An AMQP connection in plain TCP, frame by frame as a test wants it. It ends with the hub. */
export async function bareConnection(hub: Hub): Promise<Connection> {
  const container = rhea.create_container();
  for (const name of quiet) container.on(name, () => undefined);
  const connection = container.connect({ port: hub.ports.amqp, host: '127.0.0.1', reconnect: false });
  await once(connection, 'connection_open');
  return connection;
}

/** Resolves when the socket of the connection has ended. */
export const disconnected = (connection: Connection): Promise<unknown> => once(connection, 'disconnected');

const soon = () => Math.floor(Date.now() / 1000) + 600;

export const eventAudience = (hub: Hub): string => `sb://127.0.0.1:${hub.ports.amqp}/${hub.name}`;

export const eventToken = (hub: Hub, policy: string): string =>
  signSas(eventAudience(hub), keyOf(hub, policy), 'utf8', soon(), policy);

export const keyOf = (hub: Hub, policy: string): string =>
  /SharedAccessKey=([^;]*)/.exec(hub.connectionString(policy))?.[1] ?? '';

/** A token of a policy for the hub, good for ten minutes. */
export const serviceToken = (hub: Hub, policy: string, resource = 'localhost'): string =>
  signSas(resource, keyOf(hub, policy), 'base64', soon(), policy);

/** The token that a device signs with its own key, good for ten minutes. */
export const deviceToken = (hub: Hub, deviceId: string): string =>
  signSas(`localhost/devices/${deviceId}`, hub.registry.get(deviceId)?.primaryKey ?? '', 'base64', soon());

/** Put a token of a policy as an event client or as a service does. Answers the status. */
export function putToken(
  hub: Hub,
  connection: Connection,
  use: 'events' | 'service',
  policy: string = use,
): Promise<number> {
  return use === 'events'
    ? put(connection, eventAudience(hub), eventToken(hub, policy))
    : put(connection, 'localhost', serviceToken(hub, policy));
}

/** Put the token of a device. Answers the status. */
export const putDeviceToken = (hub: Hub, connection: Connection, deviceId: string): Promise<number> =>
  put(connection, `localhost/devices/${deviceId}`, deviceToken(hub, deviceId));

async function put(connection: Connection, audience: string, token: string): Promise<number> {
  const receiver = connection.open_receiver({ source: '$cbs', target: 'answers' });
  const sender = connection.open_sender('$cbs');
  await once(sender, 'sendable');
  sender.send({
    message_id: 'one',
    reply_to: 'answers',
    application_properties: { operation: 'put-token', type: 'servicebus.windows.net:sastoken', name: audience },
    body: token,
  });
  const [{ message }] = (await once(receiver, 'message')) as [EventContext];
  if (message?.correlation_id !== 'one') throw new Error('The answer is to another request.');
  receiver.close();
  sender.close();
  return message.application_properties?.['status-code'];
}

/** A link to the devices on a connection of its own, ready to send. */
export async function serviceLink(hub: Hub): Promise<Sender> {
  const connection = await bareConnection(hub);
  await putToken(hub, connection, 'service');
  const options = { target: '/messages/devicebound', treat_modified_as_released: false };
  const sender = connection.open_sender(options);
  await once(sender, 'sendable');
  return sender;
}

export const toDevice = (deviceId: string, body = 'x'): Message => ({
  to: `/devices/${deviceId}/messages/devicebound`,
  body: rhea.message.data_section(Buffer.from(body)),
});

const outcomes = ['accepted', 'released', 'rejected', 'modified'];

/** How the hub settles the next delivery on this link; rejections with their condition. */
export const nextOutcome = (sender: Sender): Promise<string> =>
  new Promise((resolve) => {
    for (const outcome of outcomes)
      sender.once(outcome, ({ delivery }: EventContext) => {
        const state = delivery?.remote_state as { error?: { condition?: string } } | undefined;
        resolve(state?.error?.condition ?? outcome);
      });
  });

/** Send and wait; answers as `nextOutcome` does. */
export async function outcomeOf(sender: Sender, message: Message | Buffer, format?: number): Promise<string> {
  if (!sender.sendable()) await once(sender, 'sendable');
  const outcome = nextOutcome(sender);
  sender.send(message, undefined, format as number);
  return outcome;
}

/** A receiver of a partition on a connection of its own, with the bodies that came. */
export async function eventReceiver(
  hub: Hub,
  options: { partition?: number; credit?: number } = {},
): Promise<{ receiver: Receiver; bodies: string[]; connection: Connection }> {
  const connection = await bareConnection(hub);
  await putToken(hub, connection, 'events');
  const bodies: string[] = [];
  const source = `${hub.name}/ConsumerGroups/$Default/Partitions/${options.partition ?? 0}`;
  const receiver = connection.open_receiver({ source, credit_window: 0 });
  receiver.on('message', ({ message }: EventContext) => bodies.push(String(message?.body.content)));
  await once(receiver, 'receiver_open');
  receiver.add_credit(options.credit ?? 1000);
  return { receiver, bodies, connection };
}

export function append(hub: Hub, bodies: readonly string[], partition = 0): void {
  for (const body of bodies)
    hub.partitions[partition]?.append(() =>
      rhea.message.encode({ body: rhea.message.data_section(Buffer.from(body)) }),
    );
}

/** With which condition the hub ends a link; undefined when it gives none. */
export async function ended(link: Sender | Receiver): Promise<string | undefined> {
  await once(link, link.is_receiver() ? 'receiver_close' : 'sender_close');
  return (link.error as { condition?: string } | undefined)?.condition;
}
