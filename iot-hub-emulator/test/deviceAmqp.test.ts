import { once } from 'node:events';
import rhea, { type EventContext } from 'rhea';
import { beforeEach, describe, expect, test } from 'vitest';
import { maxEventSize } from '../src/events/events.ts';
import { bareConnection, ended, outcomeOf, putDeviceToken } from './support/bare.ts';
import { listenInTest } from './support/eventClients.ts';
import { hubForEach } from './support/sharedHub.ts';

// What AMQP devices can do and the official client for Node.js does not: batches, typed properties, and mischief.

let lead = 0;
beforeEach(() => {
  lead = 0;
});
const devices = [{ deviceId: 'pump-1' }, { deviceId: 'Pump-1' }, { deviceId: 'pump-2' }];
const hub = hubForEach({ devices, partitions: 1, now: () => Date.now() + lead });

const { data_section, data_sections } = rhea.message;
const batchFormat = 0x80013700;
const batch = (...bodies: Buffer[]) =>
  rhea.message.encode({
    body: data_sections(
      bodies.map((body) =>
        rhea.message.encode({ application_properties: { n: bodies.indexOf(body) }, body: data_section(body) }),
      ),
    ),
  });
const d2c = () => hub.journal.list({ kind: 'd2c' });
const loggedIn = async (deviceId = 'pump-1') => {
  const connection = await bareConnection(hub);
  expect(await putDeviceToken(hub, connection, deviceId)).toBe(200);
  return connection;
};

describe('a batch', () => {
  test('is taken in message by message, in order', async () => {
    const sender = (await loggedIn()).open_sender('/devices/pump-1/messages/events');
    expect(await outcomeOf(sender, batch(Buffer.from('a'), Buffer.from('b')), batchFormat)).toBe('accepted');
    expect(d2c()).toMatchObject([
      { deviceId: 'pump-1', properties: { n: 0 }, body: Buffer.from('a') },
      { deviceId: 'pump-1', properties: { n: 1 }, body: Buffer.from('b') },
    ]);
  });
  test('may have 256 KB in all, and is refused as a whole if it has more', async () => {
    const sender = (await loggedIn()).open_sender('/devices/pump-1/messages/events');
    // each property has a name of one dead letter and a value of one digit
    const half = Buffer.alloc(maxEventSize / 2 - 2);
    const most = [half, Buffer.alloc(half.length)];
    expect(await outcomeOf(sender, batch(...most), batchFormat)).toBe('accepted');
    const more = batch(half, Buffer.alloc(half.length + 1));
    expect(await outcomeOf(sender, more, batchFormat)).toBe('amqp:link:message-size-exceeded');
    expect(d2c()).toHaveLength(2);
  });
});

test('typed application properties keep their types', async () => {
  const sender = (await loggedIn()).open_sender('/devices/pump-1/messages/events');
  const application_properties = { text: '2', number: 2, fraction: 1.5, flag: true };
  await outcomeOf(sender, { application_properties, body: data_section(Buffer.from('x')) });
  const [event] = await listenInTest(hub, { startPosition: { offset: '-1' }, partition: '0' }).has(1);
  expect(event?.properties).toEqual(application_properties);
});
test('a device cannot forge a stamp by an annotation', async () => {
  const sender = (await loggedIn()).open_sender('/devices/pump-1/messages/events');
  const message_annotations = { 'iothub-connection-device-id': 'pump-2', 'iothub-enqueuedtime': 0 };
  await outcomeOf(sender, { message_annotations, body: data_section(Buffer.from('x')) });
  const [event] = await listenInTest(hub, { startPosition: { offset: '-1' }, partition: '0' }).has(1);
  expect(event?.systemProperties?.['iothub-connection-device-id']).toBe('pump-1');
  expect(event?.systemProperties?.['iothub-enqueuedtime']).toBeGreaterThan(0);
});

describe("a device's token", () => {
  test.each([
    ['another device', '/devices/pump-2/messages/events'],
    ['a device whose id differs by case', '/devices/Pump-1/messages/events'],
    ['a module', '/devices/pump-1/modules/m/messages/events'],
    ['the service', '/messages/devicebound'],
  ])('does not give access to %s', async (_, address) => {
    hub.registry.create('pump-1', { moduleId: 'm' });
    const sender = (await loggedIn()).open_sender(address);
    expect(await ended(sender)).toBe('amqp:unauthorized-access');
  });
  test.each(['messages/devicebound', 'methods/devicebound', 'twin'])(
    'is necessary to receive from its %s',
    async (endpoint) => {
      const receiver = (await loggedIn('pump-2')).open_receiver(`/devices/pump-1/${endpoint}`);
      expect(await ended(receiver)).toBe('amqp:unauthorized-access');
    },
  );
  test('shares a connection with other tokens, each for its own links', async () => {
    const connection = await loggedIn('pump-1');
    await putDeviceToken(hub, connection, 'pump-2');
    for (const deviceId of ['pump-1', 'pump-2'])
      await outcomeOf(connection.open_sender(`/devices/${deviceId}/messages/events`), { body: 'x' });
    expect(d2c().map((entry) => entry.kind === 'd2c' && entry.deviceId)).toEqual(['pump-1', 'pump-2']);
    expect(['pump-1', 'pump-2'].map(hub.isConnected)).toEqual([true, true]);
  });
  test('that expires in use gives access no more', async () => {
    const sender = (await loggedIn()).open_sender('/devices/pump-1/messages/events');
    expect(await outcomeOf(sender, { body: 'x' })).toBe('accepted');
    lead = 601_000;
    expect(await outcomeOf(sender, { body: 'x' })).toBe('amqp:unauthorized-access');
    expect(d2c()).toHaveLength(1);
  });
});

test('a link at an unknown address of a device is refused as not found', async () => {
  const connection = await loggedIn();
  expect(await ended(connection.open_sender('/devices/pump-1/nothing'))).toBe('amqp:not-found');
  expect(await ended(connection.open_sender('/devices/pump-1/messages/devicebound'))).toBe('amqp:not-found');
});
test('a device gets only as many messages as it has given credit for', async () => {
  const message = (n: number) => ({ system: {}, properties: {}, body: Buffer.from(String(n)) });
  for (const n of [1, 2, 3]) hub.devicebound.enqueue('pump-1', message(n), 'service');
  const receiver = (await loggedIn()).open_receiver({
    source: '/devices/pump-1/messages/devicebound',
    credit_window: 0,
    autoaccept: false,
  });
  const got: string[] = [];
  receiver.on('message', ({ message }: EventContext) => got.push(message?.body.content.toString()));
  await once(receiver, 'receiver_open');
  receiver.add_credit(2);
  await expect.poll(() => got).toEqual(['1', '2']);
  expect(hub.journal.list({ kind: 'c2d-delivered' })).toHaveLength(2); // the third is not counted as delivered
  receiver.add_credit(1);
  await expect.poll(() => got).toEqual(['1', '2', '3']);
});
test('a device that gives no credit for twin changes loses the link on which it subscribed', async () => {
  const connection = await loggedIn();
  const receiver = connection.open_receiver({ source: '/devices/pump-1/twin', credit_window: 0 });
  await once(receiver, 'receiver_open');
  const sender = connection.open_sender('/devices/pump-1/twin');
  const message_annotations = { operation: 'PUT', resource: '/notifications/twin/properties/desired' };
  expect(await outcomeOf(sender, { message_annotations, body: '' })).toBe('accepted');
  const gone = ended(sender);
  hub.twins.change('pump-1', { properties: { desired: { speed: 1 } } });
  expect(await gone).toBe('amqp:resource-limit-exceeded');
});
test('messages that an AMQP device has not settled when it disconnects are delivered again', async () => {
  hub.devicebound.enqueue('pump-1', { system: {}, properties: {}, body: Buffer.from('x') }, 'service');
  const options = { source: '/devices/pump-1/messages/devicebound', autoaccept: false };
  const first = await loggedIn();
  await once(first.open_receiver(options), 'message');
  first.close();
  await once(first, 'connection_close');
  await expect.poll(() => hub.isConnected('pump-1')).toBe(false);
  const [{ message }] = (await once((await loggedIn()).open_receiver(options), 'message')) as [EventContext];
  expect(message?.delivery_count).toBe(0);
  expect(message?.message_annotations?.['iothub-enqueuedtime']).toBeInstanceOf(Date);
});
