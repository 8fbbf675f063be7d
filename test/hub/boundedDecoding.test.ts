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
  section,
} from '../../iot-hub-emulator/test/support/rawAmqp.ts';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { type Consumer, createConsumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createMemoryStore } from '../../src/hub/stores/memoryStore.ts';
import { type HubEvent, undecodedProperties } from '../../src/protocol/event.ts';
import { usualOpened, usualReading } from './support/reading.ts';

// What a device may send as an AMQP value, and that the service reads it all the same (SDK trap 19). The client is the
// official one, the hub is the sandbox's, with events as a device of no library would have written them.

cureHubSdks();

const bytes = (...all: number[]) => Buffer.from(all);
const map = (...items: Uint8Array[]) => compound(0xd1, items.length, ...items);
const name = bytes(0xa1, 1, 0x6e);
/** The name of a method that every object has: the library looks for a type of this name, and fails. */
const fatal = Buffer.concat([bytes(0, 0xa3, 8), Buffer.from('toString'), bytes(0x40)]);

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
      arrivalOf(event) {
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
  hub.partitions[0]?.append((place) => Buffer.concat(parts(place)));
  good();
  await expect.poll(() => seen.length).toBe(3);
  expect(hub.journal.list({ kind: 'receiver-opened' })).toHaveLength(1);
}

const ours = { msgType: 'action', action: 'model.update' };

describe('an event has its properties without its body, if that is', () => {
  it.each([
    ['a value of thousands of nested lists', section('value', nestedLists(3_000))],
    ['a value of thousands of descriptors', section('value', nestedDescriptors(30_000))],
    ['a value of thirteen bytes with 2^31 - 1 elements', section('value', emptyElements(2 ** 31 - 1))],
    ['a map of nested lists', section('value', map(name, nestedLists(3_000)))],
    ['a row of nested lists', section('sequence', compound(0xd0, 1, nestedLists(3_000)))],
    ['a text that is longer than the event', section('value', bytes(0xb1, 0x7f, 0xff, 0xff, 0xff))],
    ['cut off', section('data', bytes(0xb0, 0))],
    ['of a type that makes the library fail', section('value', map(name, fatal))],
  ])('%s', async (_, body) => {
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
});

describe('an event has only its annotations, if its properties are', () => {
  it.each([
    ['nested', map(name, nestedLists(3_000))],
    ['of 2^31 - 1 elements', emptyElements(2 ** 31 - 1)],
    ['of a type that makes the library fail', map(name, map(name, fatal))],
  ])('%s', async (_, properties) => {
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
});

it('an event has no position when its annotations cannot be decoded', async () => {
  await sendBetween(() => [section('messageAnnotations', map(name, nestedLists(3_000)))]);
  expect(seen.map(({ sequenceNumber }) => sequenceNumber)).toEqual([0, undefined, 2]);
  expect(seen[1]?.body).toBe(undecodedProperties);
});

it.each([
  ['text', bytes(0xa1, 1, 0x78), 'x'],
  ['null', bytes(0x40), null],
  ['a small map', map(name, bytes(0x54, 5)), { n: 5 }],
])('a value of %s is decoded as by the unmodified client', async (_, value, body) => {
  await sendBetween((place) => [beginning(place, 'd1', ours), section('value', value)]);
  expect(seen[1]).toMatchObject({ sequenceNumber: 1, body, properties: ours });
});

describe.each([
  ['events', messageOfReading, framesOfReading],
  ['replies', messageOfReplies, framesOfReplies],
])('the library of %s', (_, message, frames) => {
  it('decodes no message that takes all memory', () => {
    expect(message.decode(section('value', emptyElements(2 ** 31 - 1)))).toEqual({ body: null });
  });

  it('decodes zero bytes as an empty message', () => {
    expect(message.decode(undefined)).toEqual({});
  });

  it('decodes no frame that takes all memory', () => {
    const frame = Buffer.concat([bytes(0, 0, 0, 24, 2, 0, 0, 0), emptyElements(2 ** 31 - 1)]);
    expect(() => frames.read_frame(frame)).toThrow('AMQP frame that cannot be decoded');
  });
});
