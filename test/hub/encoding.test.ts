import { createRequire } from 'node:module';
import rhea from 'rhea';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { encode, toMessage } from '../../src/hub/replies/sendBytes.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import { createRandom } from '../chaos/random.ts';
import { firstSeeds } from '../support/seed.ts';

// What goes to the link as bytes is what the service client would have sent, byte for byte: its own conversion and the AMQP
// library that it brings along are the measure.

const lengths = [0, 1, 2, 84, 127, 128, 254, 255, 256, 257, 300, 65_536];

const ofClient = createRequire(createRequire(import.meta.url).resolve('azure-iothub'));
const { AmqpMessage } = ofClient('./dist/common-amqp/amqp_message.js');
const { message } = ofClient('rhea');
const frames = ofClient('rhea/lib/frames.js');

const frameOf = (payload: Buffer): Buffer => {
  const transfer = { handle: 0, delivery_id: 7, delivery_tag: Buffer.from('7'), message_format: 0, settled: false };
  return frames.write_frame(frames.amqp_frame(0, frames.transfer(transfer), payload));
};
const payloads = lengths.map((length) => Buffer.alloc(length, 'x'));
const framesOfShippedClient = payloads.map(frameOf);
cureHubSdks();

beforeEach(() => {
  // What is not written keeps what was there.
  vi.spyOn(Buffer, 'allocUnsafe').mockImplementation((size) => Buffer.alloc(size, 0xa5));
});

function encodedByClient(reply: Reply): Buffer {
  const converted = AmqpMessage.fromMessage(toMessage(reply));
  converted.to = `/devices/${encodeURIComponent(reply.deviceId)}/messages/devicebound`;
  return message.encode(converted);
}

const characters = ['x', 'é', '€', '😀', ' ', '\u0000', '"', '\ud800'];
const ids = [
  ...['6f9619ff-8b86-5011-b42d-00cf4fc964ff', '01234567-89ab-4def-a012-3456789abcde'],
  ...['6F9619FF-8B86-5011-B42D-00CF4FC964FF', '6f9619ff-8b86-6011-b42d-00cf4fc964ff'],
  ...['6f9619ff-8b86-4011-c42d-00cf4fc964ff', '6f9619ff-8b86-4011-b42d-00cf4fc964ff ', 'c-1'],
];

it.each(firstSeeds(8))('the bytes of replies are those of the service client, for any texts (seed %d)', (seed) => {
  const random = createRandom(seed);
  const text = (least = 0) =>
    Array.from({ length: Math.max(least, random.pick(lengths)) }, () =>
      random.next() < 0.9 ? 'x' : random.pick(characters),
    ).join('');
  for (let n = 0; n < 25; n += 1) {
    const names = Array.from({ length: random.between(0, 8) }, (_, index) => `${index}${text().slice(0, 400)}`);
    const reply: Reply = {
      kind: 'acknowledgement',
      deviceId: [...text(1).replaceAll('\ud800', '%')].slice(0, 128).join(''),
      messageId: random.pick(ids),
      correlationId: random.next() < 0.2 ? undefined : random.pick([...ids, text(1).slice(0, 300)]),
      properties: Object.fromEntries(names.map((name) => [name, text()])),
      body: text(),
    };
    expect(encode(reply).equals(encodedByClient(reply))).toBe(true);
  }
});

/** So many bytes, of one or of two for a character. */
const oneByteEach = (bytes: number): string => 'x'.repeat(bytes);
const twoBytesEach = (bytes: number): string => 'é'.repeat(bytes / 2) + 'x'.repeat(bytes % 2);

/** AMQP has a length of one byte up to 255, and one of four from 256. */
describe.each([255, 256, 257])('a text of exactly %d bytes arrives unchanged', (bytes) => {
  const usual: Reply = {
    ...{ kind: 'acknowledgement', deviceId: 'd', messageId: 'm', correlationId: 'c' },
    ...{ properties: { before: 'b', after: 'a' }, body: '{}' },
  };
  const addressed = '/devices//messages/devicebound'.length;

  it.each<[position: string, given: Partial<Reply>]>([
    ['the address', { deviceId: oneByteEach(bytes - addressed) }],
    ['the message id', { messageId: oneByteEach(bytes) }],
    ['the correlation id', { correlationId: oneByteEach(bytes) }],
    ['the name of a property', { properties: { before: 'b', [twoBytesEach(bytes)]: 'x', after: 'a' } }],
    ['the value of a property', { properties: { before: 'b', x: twoBytesEach(bytes), after: 'a' } }],
    ['the body', { body: twoBytesEach(bytes) }],
  ])('as %s', (_, given) => {
    const { deviceId, messageId, correlationId, properties, body } = { ...usual, ...given };
    expect(rhea.message.decode(encode({ ...usual, ...given }))).toMatchObject({
      ...{ to: `/devices/${deviceId}/messages/devicebound`, message_id: messageId },
      ...{ correlation_id: correlationId, content_type: 'application/json', content_encoding: 'utf-8' },
      ...{ application_properties: properties, body: { content: Buffer.from(body) } },
    });
  });
});

it('a device id that is not a text is refused, as by the service client', () => {
  const reply = { kind: 'acknowledgement', deviceId: '\ud800', messageId: 'm', properties: {}, body: '' } as const;
  expect(() => encode({ ...reply, correlationId: undefined })).toThrow(URIError);
});
it('frames are those of the unmodified client, although their buffers are not cleared first', () =>
  expect(payloads.map((one, n) => framesOfShippedClient[n]?.equals(frameOf(one)))).toEqual(payloads.map(() => true)));
