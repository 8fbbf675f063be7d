import { contentEncoding, contentTypeOf, type Reply } from '../../protocol/reply.ts';

/*
 * header                  00 53 70  45            no fields
 * properties              00 53 73  d0 size count message-id, user-id, to, subject, reply-to, correlation-id,
 *                                                 content-type, content-encoding
 * application-properties  00 53 74  d1 size count name, value, …; left out without properties
 * data                    00 53 75                the body
 */
const opening = Buffer.from([0x00, 0x53, 0x70, 0x45, 0x00, 0x53, 0x73, 0xd0]);
const propertyCount = 8;
const mapOpening = [0x00, 0x53, 0x74, 0xd1] as const;
const dataOpening = [0x00, 0x53, 0x75] as const;

const absent = 0x40;
const uuid = 0x98;
/** With a length of one byte; that of four bytes is 0x10 more. */
const binary = 0xa0;
const string = 0xa1;
const symbol = 0xa3;

/** Forms of ids that the hub gets as 16 bytes (fact c2d.ids). */
const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const uuidBytes = 17;
const hyphen = 0x2d;
const digit0 = 0x30;
const letterA = 0x61;

const symbols = (...texts: readonly string[]): Buffer =>
  Buffer.concat(texts.map((text) => Buffer.concat([Buffer.from([symbol, text.length]), Buffer.from(text)])));
const endings = {
  'application/json': symbols('application/json', contentEncoding),
  'text/plain': symbols('text/plain', contentEncoding),
} as const;

/**
 * A reply as the bytes of an AMQP message (C1): the same as the service client makes of `toMessage`, at a fifth of its cost.
 * @throws URIError when the device's id is no text
 */
export function encode({ body, deviceId, messageId, correlationId, properties }: Reply): Buffer {
  const to = `/devices/${encodeURIComponent(deviceId)}/messages/devicebound`;
  const ending = endings[contentTypeOf({ properties })];
  const listBytes = 4 + sizeOfId(messageId) + sizeOf(to) + 3 + sizeOfId(correlationId) + ending.length;
  let [mapBytes, count] = [4, 0];
  for (const name in properties) {
    mapBytes += sizeOf(name) + sizeOf(properties[name] as string);
    count += 2;
  }
  const isMapped = count > 0;
  const mapSectionBytes = isMapped ? mapOpening.length + 4 + mapBytes : 0;
  const bytes = Buffer.allocUnsafe(
    opening.length + 4 + listBytes + mapSectionBytes + dataOpening.length + sizeOf(body),
  );

  opening.copy(bytes);
  let at = opening.length;
  at = writeSizes(bytes, at, listBytes, propertyCount);
  at = writeId(bytes, at, messageId);
  bytes[at++] = absent;
  at = writeText(bytes, at, string, to);
  bytes[at++] = absent;
  bytes[at++] = absent;
  at = writeId(bytes, at, correlationId);
  ending.copy(bytes, at);
  at += ending.length;
  if (isMapped) {
    for (const byte of mapOpening) bytes[at++] = byte;
    at = writeSizes(bytes, at, mapBytes, count);
    for (const name in properties) {
      at = writeText(bytes, at, string, name);
      at = writeText(bytes, at, string, properties[name] as string);
    }
  }
  for (const byte of dataOpening) bytes[at++] = byte;
  writeText(bytes, at, binary, body);
  return bytes;
}

function sizeOf(text: string): number {
  const bytes = Buffer.byteLength(text);
  return bytes > 255 ? 5 + bytes : 2 + bytes;
}

const isUuid = (id: string): boolean => id.length === 36 && uuidText.test(id);

const sizeOfId = (id: string | undefined): number => (!id ? 1 : isUuid(id) ? uuidBytes : sizeOf(id));

function writeSizes(bytes: Buffer, at: number, size: number, count: number): number {
  bytes.writeUInt32BE(size, at);
  return bytes.writeUInt32BE(count, at + 4);
}

function writeText(bytes: Buffer, at: number, type: number, text: string): number {
  const length = Buffer.byteLength(text);
  if (length > 255) {
    bytes[at] = type + 0x10;
    const start = bytes.writeUInt32BE(length, at + 1);
    return start + bytes.write(text, start);
  }
  bytes[at] = type;
  bytes[at + 1] = length;
  return at + 2 + bytes.write(text, at + 2);
}

function writeId(bytes: Buffer, at: number, id: string | undefined): number {
  if (!id) {
    bytes[at] = absent;
    return at + 1;
  }
  if (!isUuid(id)) return writeText(bytes, at, string, id);
  bytes[at] = uuid;
  let digits = 0;
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    if (code === hyphen) continue;
    const digit = code >= letterA ? code - letterA + 10 : code - digit0;
    const place = at + 1 + (digits >> 1);
    bytes[place] = digits % 2 === 0 ? digit << 4 : (bytes[place] as number) | digit;
    digits += 1;
  }
  return at + uuidBytes;
}
