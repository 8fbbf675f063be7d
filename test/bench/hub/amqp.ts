import { once } from 'node:events';
import rhea, { type Connection, type Sender } from 'rhea';
import { signSas } from '../../../iot-hub-emulator/src/identity/sas.ts';
import type { HubUnderLoad } from './underLoad.ts';

const expiry = Math.floor(Date.now() / 1000) + 3600;

/** A connection in plain TCP that has put a token. */
async function connected(hub: HubUnderLoad, use: 'events' | 'service'): Promise<Connection> {
  const connection = rhea.create_container().connect({ port: hub.ports.amqp, host: '127.0.0.1', reconnect: false });
  connection.on('disconnected', () => undefined);
  await once(connection, 'connection_open');
  const key = /SharedAccessKey=([^;]*)/.exec(hub[use])?.[1] ?? '';
  const audience = use === 'events' ? `sb://127.0.0.1/${hub.name}` : 'localhost';
  const replies = connection.open_receiver({ source: '$cbs', target: 'answers' });
  const requests = connection.open_sender('$cbs');
  await once(requests, 'sendable');
  requests.send({
    message_id: 'one',
    reply_to: 'answers',
    application_properties: { operation: 'put-token', type: 'servicebus.windows.net:sastoken', name: audience },
    body: signSas(audience, key, use === 'events' ? 'utf8' : 'base64', expiry, use),
  });
  await once(replies, 'message');
  return connection;
}

/** Receive so many events of a partition from the start. */
export async function receive(hub: HubUnderLoad, partition: number, count: number): Promise<void> {
  if (count === 0) return;
  const connection = await connected(hub, 'events');
  const receiver = connection.open_receiver({
    source: `${hub.name}/ConsumerGroups/$Default/Partitions/${partition}`,
    credit_window: 1000,
  });
  await new Promise<void>((resolve) => {
    let received = 0;
    receiver.on('message', () => {
      received += 1;
      if (received === count) resolve();
    });
  });
  connection.close();
}

/** Send one message to each of these devices; resolves when the hub has taken all of them. */
export async function sendToDevices(hub: HubUnderLoad, deviceIds: readonly string[]): Promise<void> {
  const connection = await connected(hub, 'service');
  const sender: Sender = connection.open_sender('/messages/devicebound');
  const body = rhea.message.data_section(Buffer.alloc(256, 'x'));
  let [sent, accepted] = [0, 0];
  await new Promise<void>((resolve, reject) => {
    const send = () => {
      for (; sent < deviceIds.length && sender.sendable(); sent++)
        sender.send({ to: `/devices/${deviceIds[sent]}/messages/devicebound`, body });
    };
    sender.on('sendable', send);
    sender.on('accepted', () => {
      accepted += 1;
      if (accepted === deviceIds.length) resolve();
      else send();
    });
    sender.on('rejected', () => reject(new Error('The hub rejected a message.')));
  });
  connection.close();
}
