import { createRequire } from 'node:module';
import { message, types } from 'rhea';

const load = createRequire(import.meta.url);

interface MessageCodec {
  decode(bytes: Buffer | undefined): object;
  data_section(bytes: Buffer): object;
}

/** The messages of an AMQP library as it is installed: those that others in this process have may be bounded. */
export function plainMessages(library = 'rhea'): MessageCodec {
  const file = load.resolve(`${library}/lib/message.js`);
  const shared = load.cache[file];
  delete load.cache[file];
  try {
    return load(file);
  } finally {
    if (shared) load.cache[file] = shared;
  }
}

/** AMQP values and sections, byte by byte, for what no library would write. */

const uint32 = (value: number): number[] => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];

/** A value of a type with size and count: a list, map or array. */
export const compound = (code: number, count: number, ...items: Uint8Array[]): Buffer => {
  const content = Buffer.concat(items);
  return Buffer.concat([Buffer.from([code, ...uint32(content.length + 4), ...uint32(count)]), content]);
};

export function nestedLists(levels: number): Buffer {
  const bytes = Buffer.alloc(9 * levels + 1);
  for (let level = 0; level < levels; level += 1)
    bytes.set([0xd0, ...uint32(bytes.length - 9 * level - 5), ...uint32(1)], 9 * level);
  bytes[9 * levels] = 0x45;
  return bytes;
}

/** An array of so many elements that take no bytes: ten bytes in all. */
export const emptyElements = (count: number, code = 0x40): Buffer => compound(0xf0, count, Buffer.from([code]));

export const nestedDescriptors = (levels: number): Buffer =>
  Buffer.from([...Array(levels).fill(0), ...Array(levels + 1).fill(0x40)]);

const ofProperties = { messageAnnotations: 0x72, properties: 0x73, applicationProperties: 0x74 };
export const sections = { ...ofProperties, data: 0x75, sequence: 0x76, value: 0x77, footer: 0x78 };

export const section = (kind: keyof typeof sections, value: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([0, 0x53, sections[kind]]), value]);

type Place = Readonly<{ sequenceNumber: number; offset: number; enqueuedTime: number }>;

/** The beginning of an event: the hub's annotations, and properties if there are any. */
export const beginning = (
  { sequenceNumber, offset, enqueuedTime }: Place,
  device?: string,
  properties?: object,
): Buffer =>
  message.encode({
    message_annotations: {
      'x-opt-sequence-number': types.wrap_long(sequenceNumber),
      'x-opt-offset': String(offset),
      'x-opt-enqueued-time': types.wrap_timestamp(enqueuedTime),
      ...(device === undefined ? {} : { 'iothub-connection-device-id': device }),
    },
    ...(properties && { application_properties: properties }),
    body: { collect_sections: () => undefined },
  });
