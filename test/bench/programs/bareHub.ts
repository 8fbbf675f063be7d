import { once } from 'node:events';
import { signSas } from 'iot-hub-emulator/testing';
import rhea, { type EventContext, type Sender } from 'rhea';
import { authorized } from '../processes/authorized.ts';
import { environment, keyIn, policyIn } from './environment.ts';

/** The hub over bare rhea: what the least programs receive and send with. */

const { hubName, amqpPort, amqpsPort, partitions, eventsConnectionString, serviceConnectionString } = environment;
const credit = 300;

function tokenFor(audience: string, connectionString: string, encoding: 'utf8' | 'base64'): string {
  const expiry = Math.floor(Date.now() / 1000) + 3600;
  return signSas(audience, keyIn(connectionString), encoding, expiry, policyIn(connectionString));
}

const audience = `sb://127.0.0.1/${hubName}`;
const events = await authorized(
  { host: 'localhost', port: amqpPort, transport: 'tcp' },
  audience,
  tokenFor(audience, eventsConnectionString, 'utf8'),
);
const service = await authorized(
  { host: 'localhost', port: amqpsPort, transport: 'tls' },
  'localhost',
  tokenFor('localhost', serviceConnectionString, 'base64'),
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
