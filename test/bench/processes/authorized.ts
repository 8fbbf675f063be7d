import { once } from 'node:events';
import rhea, { type Connection, type ConnectionOptions } from 'rhea';

/** A connection of bare rhea to a hub that has put a token. */
export async function authorized(to: ConnectionOptions, audience: string, token: string): Promise<Connection> {
  const connection = rhea.create_container().connect({ reconnect: false, ...to } as ConnectionOptions);
  connection.on('disconnected', () => undefined);
  await once(connection, 'connection_open');
  const replies = connection.open_receiver({ source: '$cbs', target: 'answers' });
  const requests = connection.open_sender('$cbs');
  await once(requests, 'sendable');
  requests.send({
    ...{ message_id: 'token', reply_to: 'answers', body: token },
    application_properties: { operation: 'put-token', type: 'servicebus.windows.net:sastoken', name: audience },
  });
  await once(replies, 'message');
  return connection;
}
