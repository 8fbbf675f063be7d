import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { bareConnection, outcomeOf, putDeviceToken, putToken } from './support/bare.ts';
import { compound, section, sections } from './support/rawAmqp.ts';
import { attachReceiver, described, flow, map, rawSession, symbol, text } from './support/rawClient.ts';
import { hubForEach } from './support/sharedHub.ts';

// Application properties keep their types, byte for byte: JavaScript, which has one kind of number, would not see it.

const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 1, ownerMaySend: true });
const partition = 'sandbox-hub/ConsumerGroups/$Default/Partitions/0';
const device = '/devices/pump-1/messages/events';
const hex = (written: string) => Buffer.from(written.replaceAll(' ', ''), 'hex');

/** A value of every type of AMQP, in each of its encodings. */
const values: Readonly<Record<string, Buffer>> = {
  null: hex('40'),
  'boolean, true': hex('56 01'),
  'boolean, false, without a byte': hex('42'),
  ubyte: hex('50 07'),
  ushort: hex('60 0007'),
  uint: hex('70 00000007'),
  'uint of one byte': hex('52 07'),
  'uint 0': hex('43'),
  ulong: hex('80 ffffffffffffffff'),
  'ulong of one byte': hex('53 07'),
  'ulong 0': hex('44'),
  byte: hex('51 f9'),
  short: hex('61 fff9'),
  int: hex('71 fffffff9'),
  'int of one byte': hex('54 f9'),
  'long 2^53+1': hex('81 0020000000000001'),
  'long of one byte': hex('55 02'),
  'float 0.1': hex('72 3dcccccd'),
  'double 2.0': hex('82 4000000000000000'),
  'double NaN with a payload': hex('82 7ff8000000000001'),
  decimal32: hex('74 22500001'),
  decimal64: hex('84 2238000000000001'),
  decimal128: hex('94 22080000000000000000000000000001'),
  char: hex('73 0001f600'),
  timestamp: hex('83 0000019a00000000'),
  uuid: hex('98 0d2a7f0e6d7c4c5e9b2a1f6d2d1f9a10'),
  binary: hex('a0 02 00ff'),
  'binary, long form': hex('b0 00000002 00ff'),
  string: hex('a1 02 c3a4'),
  'string, long form': text('2'),
  symbol: hex('a3 01 61'),
  'symbol, long form': symbol('a'),
  'list of a byte': hex('c0 03 01 51 01'),
  'list, long form': compound(0xd0, 1, hex('82 4000000000000000')),
  'empty list': hex('45'),
  map: map(text('inner'), hex('72 3dcccccd')),
  'array of ushorts': hex('e0 06 02 60 0001 0002'),
  described: described(0x99, hex('72 40000000')),
};

const data = section('data', hex('a0 01 78'));
const withProperties = (...pairs: Buffer[]) => section('applicationProperties', map(...pairs));
const messages = Object.values(values).map((value) => Buffer.concat([withProperties(text('p'), value), data]));

async function senderTo(address: string) {
  const connection = await bareConnection(hub);
  await putDeviceToken(hub, connection, 'pump-1');
  await putToken(hub, connection, 'events', 'iothubowner');
  const sender = connection.open_sender(address);
  await once(sender, 'sendable');
  sender.setMaxListeners(0);
  return sender;
}

/** Events as they reach a receiver. */
async function received(count: number): Promise<Buffer[]> {
  const client = await rawSession(hub);
  client.send(attachReceiver('all', 0, partition), flow(0, 100));
  return (await client.has('transfer', count)).map(({ payload }) => payload);
}

/** From the section of application properties on. */
const fromProperties = (event: Buffer) =>
  event.subarray(event.indexOf(hex(`00 53 ${sections.applicationProperties.toString(16)}`)));
const table = (events: readonly Buffer[]) =>
  Object.fromEntries(Object.keys(values).map((type, index) => [type, events[index]?.toString('hex')]));

const batch = (all: readonly Buffer[]) =>
  Buffer.concat(
    all.map((message) => {
      const size = Buffer.alloc(4);
      size.writeUInt32BE(message.length);
      return section('data', Buffer.concat([hex('b0'), size, message]));
    }),
  );
const batchFormat = 0x80013700;

describe.each([
  ['a device over AMQP', device],
  ['a producer', 'sandbox-hub'],
])('application properties of every type, from %s,', (_, address) => {
  test('reach a receiver with their bytes', async () => {
    const sender = await senderTo(address);
    for (const message of messages) expect(await outcomeOf(sender, message, 0)).toBe('accepted');
    expect(table((await received(messages.length)).map(fromProperties))).toEqual(table(messages));
  });
  test('do so in a batch', async () => {
    expect(await outcomeOf(await senderTo(address), batch(messages), batchFormat)).toBe('accepted');
    expect(table((await received(messages.length)).map(fromProperties))).toEqual(table(messages));
  });
  test('do so in front of a body that cannot be decoded', async () => {
    const message = Buffer.concat([withProperties(text('p'), hex('72 3dcccccd')), hex('00 53 77 f0'), Buffer.alloc(4)]);
    expect(await outcomeOf(await senderTo(address), message, 0)).toBe('accepted');
    expect((await received(1)).map(fromProperties)).toEqual([message]);
  });
});

test('the output of a module is taken out of its properties, and the others keep their bytes', async () => {
  const properties = withProperties(
    text('a'),
    hex('72 3dcccccd'),
    text('iothub-outputname'),
    text('o'),
    hex('a1 01 62'),
    hex('44'),
  );
  expect(await outcomeOf(await senderTo(device), Buffer.concat([properties, data]), 0)).toBe('accepted');
  const [event = Buffer.alloc(0)] = await received(1);
  expect(fromProperties(event)).toEqual(
    Buffer.concat([withProperties(text('a'), hex('72 3dcccccd'), hex('a1 01 62'), hex('44')), data]),
  );
  expect(event.toString('latin1')).toContain('iothub-outputname\xa1\x01o');
});
test('annotations and properties of a producer keep their bytes, too, but for stamps and places of the hub', async () => {
  const own = Buffer.concat([symbol('x-own'), hex('82 4000000000000000')]);
  const forged = [symbol('iothub-connection-device-id'), text('pump-1'), symbol('x-opt-offset'), text('7')];
  const message = Buffer.concat([
    section(
      'messageAnnotations',
      map(...forged.slice(0, 2), symbol('x-own'), hex('82 4000000000000000'), ...forged.slice(2)),
    ),
    section('properties', compound(0xd0, 1, hex('98 0d2a7f0e6d7c4c5e9b2a1f6d2d1f9a10'))),
    data,
  ]);
  expect(await outcomeOf(await senderTo('sandbox-hub'), message, 0)).toBe('accepted');
  const [event = Buffer.alloc(0)] = await received(1);
  expect(event.includes(own)).toBe(true);
  expect(event.includes('iothub-')).toBe(false);
  expect(event.toString('latin1')).toContain('x-opt-offset\xa1\x010');
  expect(event.subarray(event.indexOf(hex('00 53 73')))).toEqual(message.subarray(message.indexOf(hex('00 53 73'))));
});
test('the footer of a producer follows the body, also when its client puts it before', async () => {
  const footer = section('footer', map(symbol('x-sum'), hex('43')));
  const sender = await senderTo('sandbox-hub');
  for (const parts of [
    [data, footer],
    [footer, data],
  ])
    expect(await outcomeOf(sender, Buffer.concat([withProperties(), ...parts]), 0)).toBe('accepted');
  const expected = Buffer.concat([withProperties(), data, footer]);
  expect((await received(2)).map(fromProperties)).toEqual([expected, expected]);
});
test('a message whose sections are not in their order is refused', async () => {
  const message = Buffer.concat([withProperties(), section('properties', hex('45')), data]);
  expect(await outcomeOf(await senderTo(device), message, 0)).toBe('amqp:decode-error');
});
