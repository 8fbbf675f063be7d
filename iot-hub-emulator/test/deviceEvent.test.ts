import rhea from 'rhea';
import { describe, expect, test } from 'vitest';
import { createAmqpWriter } from '../src/events/amqpWriter.ts';
import { encodeDeviceEvent, hubEnqueuedTime } from '../src/events/deviceEvent.ts';
import type { DeviceLogin } from '../src/identity/access.ts';
import { createRegistry } from '../src/identity/registry.ts';

const registry = createRegistry(() => 0);
const identity = registry.create('pump-1');
const login: DeviceLogin = { identity, authMethod: '{"scope":"device"}', expiresAt: 0 };
const place = { sequenceNumber: 2 ** 40 + 7, offset: 123_456_789_012, enqueuedTime: 1_795_186_897_882 };
const decode = (bytes: Buffer) => rhea.message.decode(Buffer.from(bytes));
const stamps = {
  'iothub-connection-device-id': 'pump-1',
  'iothub-connection-auth-method': '{"scope":"device"}',
  'iothub-connection-auth-generation-id': identity.generationId,
  'iothub-message-source': 'Telemetry',
  'iothub-enqueuedtime': new Date(hubEnqueuedTime(place)),
  'x-opt-sequence-number': place.sequenceNumber,
  'x-opt-offset': '123456789012',
  'x-opt-enqueued-time': new Date(place.enqueuedTime),
};

describe('an event as receivers get it', () => {
  test('has the stamps, all system properties, the application properties and the body', () => {
    const system = {
      ...{ messageId: 'm', userId: 'ü', to: '/somewhere', correlationId: 'c'.repeat(300) },
      ...{ contentType: 'application/json', contentEncoding: 'utf-8', expiryTime: '2026-11-20T15:00:00.000Z' },
      ...{ creationTime: '2026-11-20T14:00:00.000Z', subject: 's', interfaceId: 'i', outputName: 'o' },
    };
    const properties = { a: '1', 'ä/€': '😀'.repeat(100), empty: '' };
    const event = decode(encodeDeviceEvent(login, { system, properties, body: Buffer.from([0, 255]) }, place));
    expect(event).toMatchObject({
      message_annotations: { ...stamps, 'dt-subject': 's', 'iothub-interface-id': 'i', 'iothub-outputname': 'o' },
      ...{ message_id: 'm', user_id: Buffer.from('ü'), to: '/somewhere', correlation_id: 'c'.repeat(300) },
      content_type: 'application/json',
      content_encoding: 'utf-8',
      absolute_expiry_time: new Date(system.expiryTime),
      creation_time: new Date(system.creationTime),
      application_properties: properties,
    });
    expect(event['body'].content).toEqual(Buffer.from([0, 255]));
    expect(event).not.toHaveProperty('subject');
    expect(event['message_annotations']).not.toHaveProperty('x-opt-partition-key');
  });
  test('has the properties that the message has, without invalid times', () => {
    const message = { system: { expiryTime: 'tomorrow' }, properties: {}, body: Buffer.alloc(0) };
    const event = decode(encodeDeviceEvent(login, message, place));
    expect(event).toMatchObject({ message_annotations: stamps, application_properties: {} });
    expect(event).not.toHaveProperty('absolute_expiry_time');
    expect(event['body'].content).toHaveLength(0);
  });
  test('can have the largest size, several times in a row', () => {
    for (const size of [255, 256, 262_144, 3]) {
      const body = Buffer.alloc(size, 'x');
      const event = decode(encodeDeviceEvent(login, { system: {}, properties: {}, body }, place));
      expect(event['body'].content).toEqual(body);
    }
  });
});

test('the hub’s enqueued time of an event is up to 327 ms before its partition’s, or up to 11 ms after it', () => {
  const before = (sequenceNumber: number) => 1000 - hubEnqueuedTime({ ...place, sequenceNumber, enqueuedTime: 1000 });
  const all = Array.from({ length: 339 }, (_, sequenceNumber) => before(sequenceNumber));
  expect([Math.min(...all), Math.max(...all), new Set(all).size]).toEqual([-11, 327, 339]);
});

test.each([0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1])(
  'the 64-bit number %d is read as it was written',
  (value) => {
    const writer = createAmqpWriter();
    writer.section(0x77);
    writer.long(value);
    expect(Number(decode(writer.take())['body'])).toBe(value);
  },
);
