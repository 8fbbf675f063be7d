import { once } from 'node:events';
import rhea, { type Connection, type EventContext, type Message, type Receiver, type Sender } from 'rhea';
import { onTestFinished } from 'vitest';
import type { Hub } from '../../../../sandbox/hub/hub.ts';
import { signSas } from '../../../../sandbox/hub/sas.ts';

const quiet = ['disconnected', 'connection_error', 'connection_close', 'error', 'receiver_error', 'sender_error'];

/** A bare AMQP connection in plain TCP, which ends with the test. */
export async function amqpConnection(hub: Hub): Promise<Connection> {
  const container = rhea.create_container();
  for (const name of quiet) container.on(name, () => undefined);
  const connection = container.connect({ port: hub.ports.amqp, host: '127.0.0.1', reconnect: false });
  onTestFinished(() => connection.close());
  await once(connection, 'connection_open');
  return connection;
}

/** Put a token for this audience on a connection; answers the status. */
export async function putToken(connection: Connection, audience: string, token: string): Promise<number> {
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
  return message?.application_properties?.['status-code'];
}

/** Put the token that a device signs with its own key, good for `seconds` from now. */
export function putDeviceToken(hub: Hub, connection: Connection, deviceId: string, seconds = 600): Promise<number> {
  const resource = `localhost/devices/${deviceId}`;
  const expiry = Math.floor(Date.now() / 1000) + seconds;
  const token = signSas(resource, hub.registry.get(deviceId)?.primaryKey ?? '', 'base64', expiry);
  return putToken(connection, resource, token);
}

/** The condition with which the hub refuses or detaches a link. */
export async function refusalOf(link: Sender | Receiver): Promise<string | undefined> {
  await once(link, link.is_receiver() ? 'receiver_error' : 'sender_error');
  return (link.error as { condition?: string } | undefined)?.condition;
}

/** Send and wait; answers `accepted`, or the condition of the rejection. */
export async function outcomeOf(sender: Sender, message: Message | Buffer, format?: number): Promise<string> {
  if (!sender.sendable()) await once(sender, 'sendable');
  sender.send(message, undefined, format as number);
  return new Promise((resolve) => {
    sender.once('accepted', () => resolve('accepted'));
    sender.once('rejected', ({ delivery }: EventContext) =>
      resolve(
        (delivery?.remote_state as { error?: { condition?: string } } | undefined)?.error?.condition ?? 'rejected',
      ),
    );
  });
}
