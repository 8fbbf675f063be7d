import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import rhea, { type Connection, type EventContext } from 'rhea';
import { beforeEach, describe, expect, test } from 'vitest';
import { inject } from '../src/testing/inject.ts';
import { deviceToken, ended, keyOf, outcomeOf, serviceToken, toDevice } from './support/bare.ts';
import { hubForEach } from './support/sharedHub.ts';

// Names and passwords instead of tokens at $cbs, and the way from the hub's own name to its events.

let lead = 0;
beforeEach(() => (lead = 0));
const devices = [{ deviceId: 'pump-1' }, { deviceId: 'pump-2' }];
const hub = hubForEach({ devices, partitions: 1, now: () => Date.now() + lead });

const tokenOf = (policy: string, resource?: string) => serviceToken(hub, policy, resource);

const begin = (username: string, password: string): Connection => {
  const container = rhea.create_container();
  for (const name of ['disconnected', 'connection_error', 'error', 'receiver_error', 'sender_error', 'sender_close'])
    container.on(name, () => undefined);
  return container.connect({
    ...{ host: 'localhost', port: hub.ports.amqps, transport: 'tls', ca: readFileSync(hub.caFile), reconnect: false },
    username,
    password,
  });
};
const enter = async (username: string, password: string): Promise<Connection> => {
  const connection = begin(username, password);
  await once(connection, 'connection_open');
  return connection;
};

describe('a name and a password', () => {
  test('of a policy allow a service to send', async () => {
    const connection = await enter('service@sas.root.sandbox-hub', tokenOf('service'));
    expect(await outcomeOf(connection.open_sender('/messages/devicebound'), toDevice('pump-1'))).toBe('accepted');
  });
  test('of a device allow that device to send, and no other', async () => {
    const connection = await enter('pump-1@sas.sandbox-hub', deviceToken(hub, 'pump-1'));
    const sender = connection.open_sender('/devices/pump-1/messages/events');
    expect(await outcomeOf(sender, { body: 'x' })).toBe('accepted');
    expect(await ended(connection.open_sender('/devices/pump-2/messages/events'))).toBe('amqp:unauthorized-access');
  });
  test('that are a policy and its key allow a client to receive events, and nothing else', async () => {
    await inject(hub, ['one']);
    const connection = await enter('service', keyOf(hub, 'service'));
    const receiver = connection.open_receiver('sandbox-hub/ConsumerGroups/$Default/Partitions/0');
    const [{ message }] = (await once(receiver, 'message')) as [EventContext];
    expect(String(message?.body.content)).toBe('one');
    expect(await ended(connection.open_sender('/messages/devicebound'))).toBe('amqp:unauthorized-access');
  });
  test.each<[string, () => [string, string]]>([
    ['a wrong key', () => ['service', 'd3Jvbmc=']],
    ['an unknown policy', () => ['nobody', keyOf(hub, 'service')]],
    ['the token of another policy', () => ['service@sas.root.sandbox-hub', tokenOf('registryRead')]],
    ['the token of another device', () => ['pump-1@sas.sandbox-hub', deviceToken(hub, 'pump-2')]],
    ['the token of a device for a policy', () => ['service@sas.root.sandbox-hub', deviceToken(hub, 'pump-1')]],
    ['no token', () => ['service@sas.root.sandbox-hub', keyOf(hub, 'service')]],
    ['nothing', () => ['\0', '\0']],
  ])('are refused with %s, which ends the connection', async (_, credentials) => {
    const [username, password] = credentials();
    const connection = begin(username, password);
    const failed = once(connection, 'connection_error');
    const gone = once(connection, 'disconnected');
    await failed;
    await gone;
    await expect.poll(() => hub.counters().connections.all).toBe(0);
  });
  test('are valid until the token expires, which ends the connection', async () => {
    const connection = await enter('service@sas.root.sandbox-hub', tokenOf('service'));
    const closed = once(connection, 'connection_close');
    lead = 601_000;
    await hub.faults.strike({ kind: 'expire-tokens' });
    await closed;
    expect(connection.error).toMatchObject({ condition: 'amqp:unauthorized-access' });
  });
});

describe('the events under the name of the hub', () => {
  test.each([
    ...['amqps://localhost/messages/events', 'amqps://localhost/messages/events/$management'],
    '/messages/events/ConsumerGroups/$Default/Partitions/0',
  ])('are redirected to the event endpoint: %s', async (address) => {
    const connection = await enter('service@sas.root.sandbox-hub', tokenOf('service', 'localhost/messages/events'));
    const receiver = connection.open_receiver(address);
    expect(await ended(receiver)).toBe('amqp:link:redirect');
    const rest = address.replace(/^.*\/messages\/events/, '');
    expect((receiver.error as { info?: object } | undefined)?.info).toMatchObject({
      hostname: 'localhost',
      port: hub.ports.amqps,
      address: `amqps://localhost:${hub.ports.amqps}/sandbox-hub${rest}`,
    });
  });
  test('are redirected only for clients with the right to listen', async () => {
    const connection = await enter('registryRead@sas.root.sandbox-hub', tokenOf('registryRead'));
    expect(await ended(connection.open_receiver('/messages/events'))).toBe('amqp:unauthorized-access');
  });
});
