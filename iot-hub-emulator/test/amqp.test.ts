import { once } from 'node:events';
import { connect } from 'node:net';
import rhea, { type EventContext } from 'rhea';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventOverhead } from '../src/events/partitionLog.ts';
import { append, bareConnection, ended, eventReceiver, eventToken, putDeviceToken, putToken } from './support/bare.ts';
import { hubForEach, hubForTest } from './support/sharedHub.ts';

// Frame-level checks with a bare AMQP client: what the official ones are too well-behaved to try.

let lead = 0;
beforeEach(() => {
  lead = 0;
});
const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 1, now: () => Date.now() + lead });

const partition = 'sandbox-hub/ConsumerGroups/$Default/Partitions/0';
const event4k = rhea.message.encode({ body: rhea.message.data_section(Buffer.alloc(4096)) });
const loggedIn = async () => {
  const connection = await bareConnection(hub);
  expect(await putToken(hub, connection, 'events')).toBe(202);
  return connection;
};

describe('credit', () => {
  test('limits the events that a receiver gets', async () => {
    append(hub, ['a', 'b', 'c', 'd', 'e']);
    const { receiver, bodies, connection } = await eventReceiver(hub, { credit: 2 });
    await expect.poll(() => bodies).toEqual(['a', 'b']);
    // a request on the same connection is answered after anything that was already on its way
    await putToken(hub, connection, 'events');
    expect(bodies).toEqual(['a', 'b']);
    receiver.add_credit(1);
    await expect.poll(() => bodies).toEqual(['a', 'b', 'c']);
  });
  test('is used for the available events when it is drained, and then gone', async () => {
    append(hub, ['a']);
    const { receiver, bodies, connection } = await eventReceiver(hub, { credit: 10 });
    receiver.drain_credit();
    await once(receiver, 'receiver_drained');
    expect(bodies).toEqual(['a']);
    append(hub, ['b']);
    await putToken(hub, connection, 'events');
    expect(bodies).toEqual(['a']);
  });
  test('suffices for more events than a session holds: all arrive in order', async () => {
    const sent = Array.from({ length: 5000 }, (_, i) => String(i));
    append(hub, sent);
    const { bodies } = await eventReceiver(hub, { credit: sent.length });
    await expect.poll(() => bodies.length).toBe(sent.length);
    expect(bodies).toEqual(sent);
  });
  test('isolates receivers: one that stops reading delays no other, and gets every event when it reads on', async () => {
    const { bodies, connection } = await eventReceiver(hub, { credit: 4000 });
    await putToken(hub, connection, 'events'); // the credit has arrived
    connection['socket'].pause();
    for (let i = 0; i < 4000; i++) hub.partitions[0]?.append(() => event4k);
    await loggedIn();
    expect(bodies.length).toBeLessThan(4000);
    connection['socket'].resume();
    await expect.poll(() => bodies.length).toBe(4000);
  });
});

test('a receiver whose next events were removed by the retention continues with the oldest event', async () => {
  const texts = Array.from({ length: 30 }, (_, i) => `event ${i + 10}`);
  const [text = ''] = texts;
  const bytes = rhea.message.encode({ body: rhea.message.data_section(Buffer.from(text)) }).length + eventOverhead;
  const small = await hubForTest({ partitions: 1, rules: { bounds: { partition: 10 * bytes } } });
  const { receiver, bodies } = await eventReceiver(small, { credit: 0 });
  append(small, texts);
  receiver.add_credit(1000);
  await expect.poll(() => bodies).toEqual(texts.slice(-10));
});

describe('a link', () => {
  const links = () => hub.counters().links;

  test('is listed until its client closes it', async () => {
    const { receiver } = await eventReceiver(hub);
    expect(hub.counters().receivers).toHaveLength(1);
    receiver.close();
    await ended(receiver);
    expect(hub.counters()).toMatchObject({ receivers: [], links: 0 });
  });
  test('is listed until its client ends the session', async () => {
    const connection = await loggedIn();
    await putDeviceToken(hub, connection, 'pump-1');
    const session = connection.create_session();
    session.open();
    await once(session.open_receiver(partition), 'receiver_open');
    await once(session.open_sender('/devices/pump-1/messages/events'), 'sendable');
    expect([links(), hub.counters().receivers.length, hub.isConnected('pump-1')]).toEqual([2, 1, true]);
    session.close();
    await once(session, 'session_close');
    expect([links(), hub.counters().receivers.length, hub.isConnected('pump-1')]).toEqual([0, 0, false]);
  });
  test('is not listed when it was refused, whether its client confirms that or not', async () => {
    const connection = await bareConnection(hub);
    const receiver = connection.open_receiver(partition);
    await once(receiver, 'receiver_error');
    expect(links()).toBe(0);
  });
});

describe('tokens', () => {
  test('a receiver without a token is refused', async () =>
    expect(await ended((await bareConnection(hub)).open_receiver(partition))).toBe('amqp:unauthorized-access'));
  test.each(['/messages/serviceBound/feedback', '/messages/serviceBound/filenotifications'])(
    'a receiver of %s without the right of service connect is refused',
    async (address) => expect(await ended((await loggedIn()).open_receiver(address))).toBe('amqp:unauthorized-access'),
  );
  test('a link to the devices without a token is refused', async () => {
    const sender = (await bareConnection(hub)).open_sender('/messages/devicebound');
    expect(await ended(sender)).toBe('amqp:unauthorized-access');
  });
  test.each([
    ['a connection without a token', undefined, undefined, 401],
    ['a policy that may listen', 'events', undefined, 200],
    ['a policy that may not listen', 'registryRead', undefined, 401],
    ['a request whose own token may listen', 'registryRead', 'events', 200],
    ['a request whose own token may not listen, on a connection that may', 'events', 'registryRead', 401],
  ])('management describes the hub to %s only with the right to listen', async (_, own, asked, status) => {
    const connection = await bareConnection(hub);
    if (own !== undefined) await putToken(hub, connection, 'events', own);
    const receiver = connection.open_receiver({ source: '$management', target: 'answers' });
    const sender = connection.open_sender('$management');
    await once(sender, 'sendable');
    const security = asked === undefined ? {} : { security_token: eventToken(hub, asked) };
    const application_properties = { operation: 'READ', name: hub.name, type: 'com.microsoft:eventhub', ...security };
    sender.send({ reply_to: 'answers', application_properties, body: '' });
    const [{ message }] = (await once(receiver, 'message')) as [EventContext];
    expect(message?.application_properties?.['status-code']).toBe(status);
    expect(message?.body?.['partition_count']).toBe(status === 200 ? 1 : undefined);
  });
  test('a receiver is closed when its token has expired', async () => {
    const { receiver } = await eventReceiver(hub);
    lead = 601_000;
    const closed = ended(receiver);
    append(hub, ['x']);
    expect(await closed).toBe('amqp:unauthorized-access');
  });
});

describe('misbehaviour', () => {
  test('by a filter that Event Hubs does not know is refused', async () => {
    const filter = {
      'apache.org:selector-filter:string': rhea.types.wrap_described("amqp.annotation.colour > 'red'", 0x468c00000004),
    };
    const receiver = (await loggedIn()).open_receiver({ source: { address: partition, filter } });
    expect(await ended(receiver)).toBe('com.microsoft:argument-error');
  });
  test('by an unknown address is answered with not-found', async () => {
    const connection = await bareConnection(hub);
    expect(await ended(connection.open_receiver('nowhere'))).toBe('amqp:not-found');
    expect(await ended(connection.open_sender('nowhere'))).toBe('amqp:not-found');
  });
  test.each([
    ['text', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['another version of AMQP', Buffer.from('AMQP\0\0\x09\x01')],
    ['a frame that is none', Buffer.concat([Buffer.from('AMQP\0\x01\0\0'), Buffer.alloc(64, 0xff)])],
    ['a frame of nothing', Buffer.from('AMQP\0\x01\0\0\0\0\0\x08\x01\0\0\0')],
  ])('by %s ends that connection and no other', async (_, bytes) => {
    const healthy = await bareConnection(hub);
    const socket = connect(hub.ports.amqp, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.resume();
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write(bytes);
    await closed;
    expect(await putToken(hub, healthy, 'events')).toBe(202);
  });
});
