import { type EventData, EventHubConsumerClient } from '@azure/event-hubs';
import { type AmqpError, Connection, type EventContext, parseConnectionString, ReceiverEvents } from 'rhea-promise';
import { signSas } from '../../src/identity/sas.ts';

// A program of its own, started with NODE_EXTRA_CA_CERTS: finds the event endpoint of a hub by the connection string of the
// hub, as the official sample iothubConnectionString.js does, and reads the first event there.
// argv: connection string. Prints the connection string that it made, without the key, and the body.

type HubParts = { HostName: string; SharedAccessKeyName: string; SharedAccessKey: string };

const parts = parseConnectionString<HubParts>(process.argv[2] ?? '');
const { HostName, SharedAccessKeyName, SharedAccessKey } = parts;
const [host = '', port = '5671'] = HostName.split(':');

/** What the hub says instead of opening a receiver of its events. */
async function redirection(): Promise<AmqpError> {
  const expiry = Math.ceil(Date.now() / 1000) + 300;
  const connection = new Connection({
    ...{ transport: 'tls', host, hostname: host, port: Number(port) },
    username: `${SharedAccessKeyName}@sas.root.${host.split('.')[0]}`,
    password: signSas(`${host}/messages/events`, SharedAccessKey, 'base64', expiry, SharedAccessKeyName),
    reconnect: false,
  });
  await connection.open();
  const source = { address: `amqps://${host}/messages/events/$management` };
  const receiver = await connection.createReceiver({ source });
  const error = await new Promise<AmqpError>((resolve) =>
    receiver.on(ReceiverEvents.receiverError, (context: EventContext) => resolve(context.receiver?.error as AmqpError)),
  );
  await connection.close();
  return error;
}

const { condition, info } = await redirection();
const entity = /:\d+\/(.*)\/\$management/i.exec(info.address)?.[1];
const found = `Endpoint=sb://${info.hostname}/;EntityPath=${entity};SharedAccessKeyName=${SharedAccessKeyName}`;
const customEndpointAddress = new URL(info.address.replace(/^amqps/, 'https')).origin.replace(/^https/, 'sb');
const withKey = `${found};SharedAccessKey=${SharedAccessKey}`;
const client = new EventHubConsumerClient('$Default', withKey, { customEndpointAddress });
const event = await new Promise<EventData>((resolve, reject) =>
  client.subscribe(
    { processEvents: async ([first]) => first && resolve(first), processError: async (error) => reject(error) },
    { startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
  ),
);
process.stdout.write(JSON.stringify({ condition, found, body: String(event.body) }));
process.exit();
