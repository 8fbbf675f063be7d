import { once } from 'node:events';
import { connect } from 'node:net';
import rhea, { type EventContext } from 'rhea';
import { beforeEach, describe, expect, test } from 'vitest';
import { maxEventSize } from '../src/events/events.ts';
import { eventOverhead } from '../src/events/partitionLog.ts';
import {
  append,
  bareConnection,
  ended,
  eventReceiver,
  eventToken,
  outcomeOf,
  putDeviceToken,
  putToken,
  serviceLink,
  toDevice,
} from './support/bare.ts';
import { listenInTest } from './support/eventClients.ts';
import { beginning, compound, emptyElements, nestedLists, plainMessages, section } from './support/rawAmqp.ts';
import { frame, header, saslHeader, text } from './support/rawClient.ts';
import { hubForEach, hubForTest } from './support/sharedHub.ts';

// Frame-level checks with a bare AMQP client: what the official ones are too well-behaved to try.

let lead = 0;
beforeEach(() => (lead = 0));
const devices = [{ deviceId: 'pump-1' }, { deviceId: 'Pump-1' }, { deviceId: 'pump-2' }];
const hub = hubForEach({ devices, partitions: 1, ownerMaySend: true, now: () => Date.now() + lead });

const partition = 'sandbox-hub/ConsumerGroups/$Default/Partitions/0';
const { data_section, data_sections } = rhea.message;
const batchFormat = 0x80013700;
const event4k = rhea.message.encode({ body: data_section(Buffer.alloc(4096)) });
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

describe('a device over AMQP', () => {
  // What AMQP devices can do and the official client for Node.js does not: batches, typed properties, and mischief.

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

  test('a batch may have 256 KB in all, and is refused as a whole if it has more', async () => {
    const sender = (await loggedIn()).open_sender('/devices/pump-1/messages/events');
    // each property has a name of one dead letter and a value of one digit
    const half = Buffer.alloc(maxEventSize / 2 - 2);
    const most = [half, Buffer.alloc(half.length)];
    expect(await outcomeOf(sender, batch(...most), batchFormat)).toBe('accepted');
    const more = batch(half, Buffer.alloc(half.length + 1));
    expect(await outcomeOf(sender, more, batchFormat)).toBe('amqp:link:message-size-exceeded');
    expect(d2c()).toHaveLength(2);
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
  test.each(['é'.repeat(200), 'sixteen letters!'])(
    'a device gets the user id %s that a service gave',
    async (userId) => {
      const sender = await serviceLink(hub);
      const system = { user_id: Buffer.from(userId) as never };
      expect(await outcomeOf(sender, { ...toDevice('pump-1'), ...system })).toBe('accepted');
      expect(hub.devicebound.pending('pump-1')).toMatchObject([{ system: { userId } }]);
      const receiver = (await loggedIn()).open_receiver('/devices/pump-1/messages/devicebound');
      const [{ message }] = (await once(receiver, 'message')) as [EventContext];
      expect(String(message?.user_id)).toBe(userId);
    },
  );
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
  test('what waits for credit on one link stops no other of its session', async () => {
    const connection = await loggedIn();
    const silent = connection.open_receiver({ source: '/devices/pump-1/twin', credit_window: 0 });
    const methods = connection.open_receiver({ source: '/devices/pump-1/methods/devicebound', credit_window: 0 });
    const messages = connection.open_receiver('/devices/pump-1/messages/devicebound');
    await Promise.all([silent, methods, messages].map((link) => once(link, 'receiver_open')));
    const sender = connection.open_sender('/devices/pump-1/twin');
    const read = { message_annotations: { operation: 'GET' }, body: data_section(Buffer.from(' ')) };
    expect(await outcomeOf(sender, { ...read, correlation_id: 'one' } as never)).toBe('accepted');
    expect(await outcomeOf(sender, { ...read, correlation_id: 'two' } as never)).toBe('accepted');
    const call = { methodName: 'start', payload: null, responseTimeoutMs: 60_000, connectTimeoutMs: 0 };
    void hub.methods.invoke('pump-1', call).catch(() => undefined);
    const next = once(messages, 'message');
    hub.devicebound.enqueue('pump-1', { system: {}, properties: {}, body: Buffer.from('x') }, 'service');
    expect(((await next)[0] as EventContext).message?.body.content.toString()).toBe('x');

    const answers: unknown[] = [];
    silent.on('message', ({ message }: EventContext) => answers.push(message?.correlation_id));
    silent.add_credit(1);
    await expect.poll(() => answers).toEqual(['one']);
    silent.add_credit(1);
    await expect.poll(() => answers).toEqual(['one', 'two']);
    const called = once(methods, 'message');
    methods.add_credit(1);
    await called;
  });
  test('a link ends on which more answers wait for credit than the hub keeps', async () => {
    const connection = await loggedIn();
    const receiver = connection.open_receiver({ source: '/devices/pump-1/twin', credit_window: 0 });
    await once(receiver, 'receiver_open');
    hub.twins.report('pump-1', Object.fromEntries([...'abcdefg'].map((name) => [name, 'x'.repeat(4000)])));
    const sender = connection.open_sender('/devices/pump-1/twin');
    await once(sender, 'sendable');
    const gone = ended(receiver);
    for (let i = 0; i < 40; i += 1) sender.send({ message_annotations: { operation: 'GET' }, body: '' });
    expect(await gone).toBe('amqp:resource-limit-exceeded');
  });
  test('a request of a twin that cannot be answered is refused, and one without bytes is answered with 400', async () => {
    const connection = await loggedIn();
    const sender = connection.open_sender('/devices/pump-1/twin');
    const message_annotations = { operation: 'PATCH', resource: '/properties/reported' };
    const patch = { message_annotations, body: { a: 1 } };
    expect(await outcomeOf(sender, patch)).toBe('amqp:not-allowed');
    const receiver = connection.open_receiver('/devices/pump-1/twin');
    await once(receiver, 'receiver_open');
    const answered = once(receiver, 'message');
    expect(await outcomeOf(sender, patch)).toBe('accepted');
    const [{ message }] = (await answered) as [EventContext];
    expect(message?.message_annotations?.['status']).toBe(400);
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
});

describe('bytes beyond the limits', () => {
  // AMQP just beyond the limits within which the hub has its library decode it. The library decodes this, too.

  const bytes = (...all: number[]) => Buffer.from(all);
  const many = emptyElements(257);
  const deep = nestedLists(33);
  const hostile: [string, Buffer][] = [
    ['257 elements without bytes', section('value', many)],
    ['33 nested lists', section('value', deep)],
    ['a sequence of such', section('sequence', compound(0xd0, 1, deep))],
    ['a small list', section('value', compound(0xd0, 1, bytes(0x40)))],
  ];
  const plain = plainMessages();

  const toTelemetry = async () => {
    const connection = await bareConnection(hub);
    await putDeviceToken(hub, connection, 'pump-1');
    return connection.open_sender('/devices/pump-1/messages/events');
  };
  /** What a device can write of a message before its body. */
  const properties = rhea.message.encode({
    application_properties: { msgType: 'action' },
    body: { collect_sections: () => undefined },
  });
  const eventBytes = () => hub.partitions[0]?.at(0)?.bytes ?? Buffer.alloc(0);

  describe('without a login,', () => {
    const open = (inside: Buffer) => frame('open', [text('x'), inside]);

    test.each([
      ['an open frame of 257 elements without bytes', [header, open(many)]],
      ['an open frame of 33 nested lists', [header, open(deep)]],
      ['a login of 257 elements without bytes', [saslHeader, frame('init', [many], undefined, 1)]],
      ['such an open frame in pieces', [header, open(many).subarray(0, 20), open(many).subarray(20)]],
    ])('%s ends the connection, and no other', async (_, pieces) => {
      const sender = await toTelemetry();
      const socket = connect(hub.ports.amqp, '127.0.0.1').on('error', () => undefined);
      const ended = once(socket, 'close');
      socket.resume();
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await ended;
      expect(await outcomeOf(sender, { body: 'still here' })).toBe('accepted');
    });
  });

  describe('a device', () => {
    test.each(hostile)('can send %s: receivers get the bytes of the body unchanged', async (_, body) => {
      expect(plain.decode(body)).toHaveProperty('body'); // harms no receiver
      const sender = await toTelemetry();
      expect(await outcomeOf(sender, Buffer.concat([properties, body]), 0)).toBe('accepted');
      expect(eventBytes().subarray(-body.length)).toEqual(body);
      expect(rhea.message.decode(eventBytes().subarray(0, -body.length))).toMatchObject({
        application_properties: { msgType: 'action' },
        message_annotations: { 'iothub-connection-device-id': 'pump-1' },
      });
      expect(hub.journal.list({ kind: 'd2c' })).toMatchObject([{ deviceId: 'pump-1', body }]);
    });
    test('can send them in one batch with others', async () => {
      const sender = await toTelemetry();
      const messages = [Buffer.concat([properties, section('value', deep)]), rhea.message.encode({ body: 'x' })];
      const batch = rhea.message.encode({ body: data_sections(messages) });
      expect(await outcomeOf(sender, batch, batchFormat)).toBe('accepted');
      expect(hub.counters().appended).toBe(2);
      expect(eventBytes().subarray(-deep.length)).toEqual(deep);
    });
    test.each([
      ['properties of 257 elements without bytes', section('applicationProperties', many)],
      [
        'a property of 33 nested lists',
        section('applicationProperties', compound(0xd1, 2, bytes(0xa1, 1, 0x78), deep)),
      ],
      ['annotations of 33 nested lists', section('messageAnnotations', deep)],
      ['no section', bytes(0x40)],
    ])('that sends %s is refused, and goes on', async (_, wrong) => {
      const sender = await toTelemetry();
      const message = Buffer.concat([wrong, section('data', bytes(0xa0, 1, 0x78))]);
      expect(await outcomeOf(sender, message, 0)).toBe('amqp:decode-error');
      const batch = rhea.message.encode({ body: data_sections([rhea.message.encode({ body: 'x' }), message]) });
      expect(await outcomeOf(sender, batch, batchFormat)).toBe('amqp:decode-error');
      expect(await outcomeOf(sender, section('value', many), batchFormat)).toBe('amqp:decode-error');
      expect(hub.counters().appended).toBe(0);
      expect(await outcomeOf(sender, { body: data_section(Buffer.from('x')) })).toBe('accepted');
      expect(hub.counters().appended).toBe(1);
    });
    test('can send a batch of thousands of messages', async () => {
      const sender = await toTelemetry();
      const message = rhea.message.encode({ body: data_section(Buffer.from('x')) });
      const batch = rhea.message.encode({ body: data_sections(Array(5_000).fill(message)) });
      expect(await outcomeOf(sender, batch, batchFormat)).toBe('accepted');
      expect(hub.counters().appended).toBe(5_000);
    });
    test('can send an empty message', async () =>
      expect(await outcomeOf(await toTelemetry(), Buffer.alloc(0), 0)).toBe('accepted'));
  });
  test.each(hostile)('a producer can send %s, too', async (_, body) => {
    const connection = await bareConnection(hub);
    await putToken(hub, connection, 'events', 'iothubowner');
    const sender = connection.open_sender(hub.name);
    expect(
      await outcomeOf(sender, Buffer.concat([beginning({ sequenceNumber: 9, offset: 9, enqueuedTime: 9 }), body]), 0),
    ).toBe('accepted');
    expect(eventBytes().subarray(-body.length)).toEqual(body);
    expect(rhea.message.decode(eventBytes().subarray(0, -body.length))).toMatchObject({
      message_annotations: { 'x-opt-sequence-number': 0 },
    });
  });
  test.each(hostile)('a service cannot send %s to a device', async (_, body) => {
    const connection = await bareConnection(hub);
    await putToken(hub, connection, 'service');
    const sender = connection.open_sender('/messages/devicebound');
    const to = rhea.message.encode({
      to: '/devices/pump-1/messages/devicebound',
      body: { collect_sections: () => undefined },
    });
    expect(await outcomeOf(sender, Buffer.concat([to, body]), 0)).toBe('com.microsoft:argument-error');
    expect(hub.devicebound.pending('pump-1')).toEqual([]);
  });
});
