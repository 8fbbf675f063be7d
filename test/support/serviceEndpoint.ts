import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import iothub from 'azure-iothub';
import rhea, { type Delivery, type EventContext, type Message, type Receiver, type Sender } from 'rhea';
import { withSettings } from '../../iot-hub-emulator/test/support/clients.ts';

export type Disposition =
  | 'accept'
  | 'release'
  | 'modify'
  | 'silence'
  | 'drop'
  | 'detach'
  | { readonly reject: string; readonly description?: string }
  /** Accepted when the call-back is called. */
  | { readonly later: (accept: () => void) => void };

export type ServiceEndpoint = Awaited<ReturnType<typeof startServiceEndpoint>>;

/**
 * The hub's service endpoint as a script: an AMQP peer that misbehaves on demand.
 * @param next what to do with each message
 * @param credit so many messages may come before it grants more
 */
export async function startServiceEndpoint(next: (body: string) => Disposition, credit = 1_000) {
  const container = rhea.create_container();
  const sockets = new Set<Socket>();
  const received: string[] = [];
  const messages: Message[] = [];
  let connections = 0;
  let receivedMessages = 0;
  let links = 0;

  for (const event of ['error', 'connection_error', 'session_error', 'disconnected', 'protocol_error'])
    container.on(event, () => {});
  container.on('connection_open', () => {
    connections += 1;
  });
  container.on('sender_open', ({ sender }: EventContext) => sender?.set_source({ address: sender.source.address }));
  container.on('receiver_open', ({ receiver }: EventContext) => {
    const address = receiver?.target.address ?? '';
    receiver?.set_target({ address });
    if (address === '/messages/devicebound') links += 1;
  });
  container.on('message', ({ message, receiver, delivery, connection }: EventContext) => {
    if (receiver?.target.address === '$cbs') {
      delivery?.accept();
      connection
        .find_sender((link: Sender) => link.source.address === '$cbs')
        ?.send({
          application_properties: { 'status-code': 200 },
          correlation_id: message?.message_id ?? '',
          to: message?.reply_to ?? '',
          body: '',
        });
      return;
    }
    const body = Buffer.from(message?.body.content).toString();
    received.push(body);
    if (message !== undefined) messages.push(message);
    settle(next(body), delivery as Delivery, receiver as Receiver, connection['socket']);
  });

  const server = container.listen({
    ...{ port: 0, host: '127.0.0.1', receiver_options: { autoaccept: false, credit_window: credit } },
    sender_options: {},
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('data', () => {
      receivedMessages += 1;
    });
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    /** Bodies that arrived, in order. */
    received: received as readonly string[],
    messages: messages as readonly Message[],
    connections: () => connections,
    /** How often bytes arrived. */
    receivedMessages: () => receivedMessages,
    /** Links to `/messages/devicebound` that were attached. */
    links: () => links,
    /** The official service client, connected to this endpoint; everything but its address is as shipped. */
    newClient: () => plainClient(port),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function settle(disposition: Disposition, delivery: Delivery, receiver: Receiver, socket: Socket): void {
  if (disposition === 'accept') delivery.accept();
  else if (disposition === 'release') delivery.release({ delivery_failed: false });
  else if (disposition === 'modify') delivery.modified({ delivery_failed: true });
  else if (disposition === 'drop') socket.destroy();
  else if (disposition === 'detach') receiver.close();
  else if (disposition === 'silence') return;
  else if ('later' in disposition) disposition.later(() => delivery.accept());
  else delivery.reject({ condition: disposition.reject, description: disposition.description ?? 'as scripted' });
}

function plainClient(port: number): iothub.Client {
  const policyOverride = { host: '127.0.0.1', port, transport: 'tcp' };
  const key = Buffer.from('not a real key').toString('base64');
  return iothub.Client.fromConnectionString(
    `HostName=localhost;SharedAccessKeyName=service;SharedAccessKey=${key}`,
    withSettings(iothub.Amqp, { policyOverride }),
  );
}
