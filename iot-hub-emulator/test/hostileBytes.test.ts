import { once } from 'node:events';
import { connect } from 'node:net';
import rhea from 'rhea';
import { describe, expect, test } from 'vitest';
import { bareConnection, outcomeOf, putDeviceToken, putToken } from './support/bare.ts';
import { beginning, compound, emptyElements, nestedLists, plainMessages, section } from './support/rawAmqp.ts';
import { hubForEach } from './support/sharedHub.ts';

// AMQP just beyond the limits within which the hub has its library decode it. The library decodes this, too.

const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 1, ownerMaySend: true });

const bytes = (...all: number[]) => Buffer.from(all);
const { data_section, data_sections } = rhea.message;
const batchFormat = 0x80013700;
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
  const amqp = Buffer.from('AMQP\0\x01\0\0', 'latin1');
  const sasl = Buffer.from('AMQP\x03\x01\0\0', 'latin1');
  const frame = (type: number, performative: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + performative.length);
    head.set([2, type], 4);
    return Buffer.concat([head, performative]);
  };
  const open = (inside: Buffer) =>
    Buffer.concat([bytes(0, 0x53, 0x10), compound(0xd0, 2, bytes(0xa1, 1, 0x78), inside)]);
  const init = (inside: Buffer) => Buffer.concat([bytes(0, 0x53, 0x41), compound(0xd0, 1, inside)]);

  test.each([
    ['an open frame of 257 elements without bytes', [amqp, frame(0, open(many))]],
    ['an open frame of 33 nested lists', [amqp, frame(0, open(deep))]],
    ['a login of 257 elements without bytes', [sasl, frame(1, init(many))]],
    ['such an open frame in pieces', [amqp, frame(0, open(many)).subarray(0, 20), frame(0, open(many)).subarray(20)]],
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
    ['a property of 33 nested lists', section('applicationProperties', compound(0xd1, 2, bytes(0xa1, 1, 0x78), deep))],
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
