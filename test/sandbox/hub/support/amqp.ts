import { once } from 'node:events';
import type { Connection, EventContext, Message, Sender } from 'rhea';
import { onTestFinished } from 'vitest';
import type { Hub } from '../../../../sandbox/hub/hub.ts';
import { signSas } from '../../../../sandbox/hub/identity/sas.ts';
import { bareConnection, nextOutcome } from './bare.ts';

/** A bare AMQP connection that ends with the test. */
export async function amqpConnection(hub: Hub): Promise<Connection> {
  const connection = await bareConnection(hub);
  onTestFinished(() => connection.close());
  return connection;
}

/** Put the token that a device signs with its own key, good for `seconds` from now; answers the status. */
export async function putDeviceToken(
  hub: Hub,
  connection: Connection,
  deviceId: string,
  seconds = 600,
): Promise<number> {
  const name = `localhost/devices/${deviceId}`;
  const expiry = Math.floor(Date.now() / 1000) + seconds;
  const body = signSas(name, hub.registry.get(deviceId)?.primaryKey ?? '', 'base64', expiry);
  const receiver = connection.open_receiver({ source: '$cbs', target: 'answers' });
  const sender = connection.open_sender('$cbs');
  await once(sender, 'sendable');
  sender.send({
    reply_to: 'answers',
    application_properties: { operation: 'put-token', type: 'servicebus.windows.net:sastoken', name },
    body,
  });
  const [{ message }] = (await once(receiver, 'message')) as [EventContext];
  return message?.application_properties?.['status-code'];
}

/** Send and wait; answers `accepted`, or the condition of the rejection. */
export async function outcomeOf(sender: Sender, message: Message | Buffer, format?: number): Promise<string> {
  if (!sender.sendable()) await once(sender, 'sendable');
  const outcome = nextOutcome(sender);
  sender.send(message, undefined, format as number);
  return outcome;
}
