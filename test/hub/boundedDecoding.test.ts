import framesOfReplies from 'azure-iothub/node_modules/rhea/lib/frames.js';
import messageOfReplies from 'azure-iothub/node_modules/rhea/lib/message.js';
import framesOfReading from 'rhea/lib/frames.js';
import messageOfReading from 'rhea/lib/message.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  beginning,
  compound,
  emptyElements,
  nestedDescriptors,
  nestedLists,
  plainMessages,
  section,
} from '../../iot-hub-emulator/test/support/rawAmqp.ts';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { type Consumer, createConsumer } from '../../src/hub/reading/consumer.ts';
import { boundDecoding, cureHubSdks } from '../../src/hub/sdkCures.ts';
import { type HubEvent, undecodedProperties } from '../../src/protocol/event.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { usualOpened, usualReading } from './support/reading.ts';

// AMQP values of devices just beyond the limits of the service, and that it reads the event all the same (SDK trap 19). The
// client is the official one, the hub is the sandbox's, with events as a device of no library would have written them.

cureHubSdks();

/** As the client has them without the limits. */
const plain = plainMessages();

const bytes = (...all: number[]) => Buffer.from(all);
const map = (...items: Uint8Array[]) => compound(0xd1, items.length, ...items);
const name = bytes(0xa1, 1, 0x6e);
let consumer: Consumer;
let seen: HubEvent[];

const hub = hubForEach({ partitions: 1 });
beforeEach(() => {
  seen = [];
  consumer = createConsumer({
    ...usualReading,
    access: hub.eventsConnectionString,
    ...{ drainMs: 2_000, roundMs: 200, balance: { expiryMs: 5_000, forceMs: 9_000 } },
    store: createMemoryStore(),
    partition: () => ({
      ...usualOpened(),
      costOf: () => 1,
      receivedMessageOf(event) {
        seen.push(event);
        return event.body === undecodedProperties ? undefined : { event, deviceId: 'd1' };
      },
      dispatch: async () => true,
    }),
  });
  consumer.start();
});
afterEach(() => consumer.stop());

/** Sends the event between two good ones. */
async function sendBetween(parts: (place: Parameters<typeof beginning>[0]) => Uint8Array[]) {
  const good = () =>
    hub.partitions[0]?.append((place) => Buffer.concat([beginning(place), section('data', bytes(0xa0, 1, 0x78))]));
  good();
  hub.partitions[0]?.append((place) => {
    const event = Buffer.concat(parts(place));
    expect(plain.decode(event)).toHaveProperty('message_annotations'); // harms no client
    return event;
  });
  good();
  await expect.poll(() => seen.length).toBe(3);
  expect(hub.journal.list({ kind: 'receiver-opened' })).toHaveLength(1);
}

const ours = { msgType: 'action', action: 'model.update' };

it.each([
  ['a value of 33 nested lists', section('value', nestedLists(33))],
  ['a value of 33 descriptors', section('value', nestedDescriptors(33))],
  ['a value of 257 elements without bytes', section('value', emptyElements(257))],
  ['a value of 4,097 values', section('value', compound(0xd0, 4_096, Buffer.alloc(4_096, 0x40)))],
  ['a map of 32 nested lists', section('value', map(name, nestedLists(32)))],
  ['a row of 32 nested lists', section('sequence', compound(0xd0, 1, nestedLists(32)))],
])('an event has its properties without its body, if that is %s', async (_, body) => {
  await sendBetween((place) => [beginning(place, 'd1', ours), body]);
  expect(seen).toMatchObject([
    { sequenceNumber: 0, body: bytes(0x78) },
    {
      ...{ sequenceNumber: 1, body: null, properties: ours },
      systemProperties: { 'iothub-connection-device-id': 'd1' },
      ...{ offset: expect.any(String), enqueuedTimeUtc: expect.any(Date) },
    },
    { sequenceNumber: 2, body: bytes(0x78) },
  ]);
});

it.each([
  ['nested', map(name, nestedLists(32))],
  ['of 257 elements without bytes', emptyElements(257)],
])('an event has only its annotations, if its properties are %s', async (_, properties) => {
  await sendBetween((place) => [
    ...[beginning(place, 'd1'), section('applicationProperties', properties)],
    section('data', bytes(0xa0, 1, 0x78)),
  ]);
  expect(seen[1]).toMatchObject({
    ...{ sequenceNumber: 1, body: undecodedProperties, offset: expect.any(String) },
    systemProperties: { 'iothub-connection-device-id': 'd1' },
  });
  expect(seen[1]?.properties).toBeUndefined();
});

it('an event has no position when its annotations cannot be decoded', async () => {
  await sendBetween(() => [section('messageAnnotations', map(name, nestedLists(32)))]);
  expect(seen.map(({ sequenceNumber }) => sequenceNumber)).toEqual([0, undefined, 2]);
  expect(seen[1]?.body).toBe(undecodedProperties);
});

it('a property has its exact value, a time as text (R4)', async () => {
  const bag = map(name, bytes(0x81, 0, 0x20, 0, 0, 0, 0, 0, 1), bytes(0xa1, 1, 0x74), bytes(0x83, ...Array(8).fill(0)));
  await sendBetween((place) => [beginning(place, 'd1'), section('applicationProperties', bag)]);
  expect(seen[1]?.properties).toEqual({ n: '9007199254740993', t: '1970-01-01T00:00:00.000Z' });
});

describe.each([
  ['events', messageOfReading, framesOfReading],
  ['replies', messageOfReplies, framesOfReplies],
])('the library of %s', (_, message, frames) => {
  it('decodes no message beyond the limits', () =>
    expect(message.decode(section('value', emptyElements(257)))).toEqual({ body: null }));
  it('decodes zero bytes as an empty message', () => expect(message.decode(undefined)).toEqual({}));
  it('decodes no frame beyond the limits', () => {
    const frame = Buffer.concat([bytes(0, 0, 0, 24, 2, 0, 0, 0), emptyElements(257)]);
    expect(() => frames.read_frame(frame)).toThrow('AMQP frame that cannot be decoded');
  });
});

it.each([
  ['body', 2, { decoded: 2, body: null }],
  ['properties', 1, { decoded: 1, body: undecodedProperties }],
  ['annotations', 0, { body: undecodedProperties }],
])('an event at whose %s the library fails is decoded up to there', (_, most, expected) => {
  const parts = [
    section('messageAnnotations', map(name, bytes(0x40))),
    section('applicationProperties', map(name, bytes(0x40))),
    section('value', bytes(0x40)),
  ];
  const ends = parts.map((__, index) => Buffer.concat(parts.slice(0, index + 1)).length);
  const decode = (given?: Buffer) => {
    const decoded = ends.indexOf(given?.length ?? 0) + 1;
    if (decoded > most || decoded === 0) throw new TypeError('no such type');
    return { decoded };
  };
  const message = { decode };
  boundDecoding(message, { read_frame: () => null });
  expect(message.decode(Buffer.concat(parts))).toEqual(expected);
});
