import { isAscii } from 'node:buffer';
import { gunzipSync, inflateSync, type Zlib } from 'node:zlib';
import { invalid } from './envelope.ts';
import { type Generation, type HubEvent, memoryOf } from './event.ts';
import { bodyLimits, type Json, jsonValue, type Keys, MalformedJson, readTerminated, terminated } from './json.ts';
import { Rejection } from './rejection.ts';

/** `isRaw`: whether the bytes are compressed data, not base64 text. */
type Compression = { readonly inflate: typeof gunzipSync; readonly isRaw: (bytes: Uint8Array) => boolean };

// These first bytes are not valid base64, so that raw data and base64 text cannot be confused.
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;

const encodings = new Map<string, Compression | 'none'>([
  ...['', 'utf8', 'utf-8', 'identity'].map((name) => [name, 'none'] as const),
  ['gzip', { inflate: gunzipSync, isRaw: isGzip }],
  ['deflate', { inflate: inflateSync, isRaw: isZlib }],
]);

/** The values of `content-encoding` of a generation, case-insensitive: V1 events are never compressed (R6). */
export const contentEncodings = (generation: Generation): readonly string[] =>
  [...encodings].flatMap(([name, encoding]) => (generation === 'V2' || encoding === 'none' ? [name] : []));

const encodingRule = (generation: Generation): string =>
  `property content-encoding must be one of ${contentEncodings(generation).filter(Boolean).join(', ')} (in any case), empty or absent`;

/** Values that a body may have however few bytes it came in; beyond them one for each byte, which no body without compression has. */
const freeValues = 16_384;
/** The hub's limit for messages of devices (fact devices.size). */
export const maxReceivedBytes = 262_144;
/** Memory for a byte of JSON text: the copy for reading (1), the text and one with a changed member (1 each, or 2 if not ASCII), bytes to send (1). */
const perAsciiByte = 4;
const perByte = 6;
/** The base64 text of a compressed body and its decoded bytes, in addition to the body. */
const perCompressedByte = 2;
/** Most bytes that one deflated byte can expand to. */
const mostInflated = 1_032;

/** Memory of a message whose body is not read, in bytes. */
export const bytesReceived = ({ body, properties }: HubEvent): number => bytesOfBody(body) + memoryOf(properties);

export function bytesOfBody(body: unknown): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : memoryOf(body);
}

/** Memory to reserve before a message is handled, in bytes: the upper bound for any body (R6). @param maxInflated bytes of a compressed body */
export function bytesToReserve(event: HubEvent, maxInflated: number): number {
  const received = bytesReceived(event);
  const body = bytesOfBody(event.body);
  if (body > maxReceivedBytes) return received; // the message is rejected without reading it
  const encoding = event.properties?.['content-encoding'];
  const isCompressed = typeof encoding === 'string' && typeof encodings.get(encoding.toLowerCase()) === 'object';
  if (!isCompressed) return received + perByte * body;
  return received + perCompressedByte * body + perByte * Math.min(maxInflated, mostInflated * body);
}

export const mostToReserve = (maxInflated: number): number =>
  (1 + perCompressedByte) * maxReceivedBytes + perByte * Math.max(maxInflated, maxReceivedBytes);

/** Memory of a message after its body has been read, in bytes (R6). */
export function bytesHeld(event: HubEvent, { bytes, end }: Json): number {
  return bytesReceived(event) + (isAscii(bytes) ? perAsciiByte : perByte) * end;
}

/**
 * The body (fact events.body) as bytes of JSON text, with a zero byte behind them. V2 bodies may be compressed: raw, or as base64 text
 * with or without quotes (R6). @throws Rejection the generation's validation failure, or decompression_error (V2)
 */
export function decodeBody(
  body: unknown,
  generation: Generation,
  contentEncoding: string | undefined,
  maxInflated: number,
): Buffer {
  const isInvalid = (why: string) => new Rejection(invalid(generation), why);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (!(bytes instanceof Uint8Array)) throw isInvalid('body must be bytes (one AMQP data section)');
  if (bytes.byteLength > maxReceivedBytes)
    throw isInvalid(`body has ${bytes.byteLength} bytes, more than the limit of ${maxReceivedBytes}`);
  if (contentEncoding === undefined) return terminated(bytes);
  const name = contentEncoding.toLowerCase();
  const encoding = encodings.get(name);
  if (generation === 'V1' && encoding !== 'none')
    throw isInvalid(`${encodingRule('V1')}: the body of an event is never compressed`);
  if (encoding === undefined) throw new Rejection('decompression_error', encodingRule('V2'));
  if (encoding === 'none') return terminated(bytes);

  const compressed = encoding.isRaw(bytes) ? bytes : fromBase64(bytes);
  if (compressed === undefined)
    throw new Rejection('decompression_error', `body is neither ${name} data nor base64 text of it`);
  return inflated(encoding, name, compressed, maxInflated);
}

/** In this thread: to hand a body to another one and back takes more time than to inflate a usual body. */
function inflated({ inflate }: Compression, name: string, data: Uint8Array, most: number): Buffer {
  // One chunk, because several would be copied into one; and room for the zero byte. zlib needs at least 64 bytes.
  const chunkSize = Math.max(64, Math.min(most, mostInflated * data.byteLength) + 1);
  const isNot = (why: string) => new Rejection('decompression_error', `body ${why}`);
  let result: { readonly buffer: Buffer; readonly engine: Zlib };
  try {
    result = Object(inflate(data, { maxOutputLength: most, chunkSize, info: true }));
  } catch (error) {
    const isTooLarge = Object(error).code === 'ERR_BUFFER_TOO_LARGE';
    throw isNot(isTooLarge ? `is larger than ${most} bytes when decompressed` : `is not valid ${name} data`);
  }
  const { buffer, engine } = result;
  if (engine.bytesWritten !== data.byteLength) throw isNot(`is not valid ${name} data`);
  if (buffer.byteLength === 0 || buffer.byteLength >= chunkSize) return terminated(buffer);
  const text = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength + 1);
  text[buffer.byteLength] = 0;
  return text;
}

/**
 * @param received bytes of the body as it came: what it costs is bound to them (R6)
 * @param remark follows what is wrong with a body that is not well-formed
 * @throws Rejection the generation's validation failure
 */
export function readBody(text: Buffer, received: number, generation: Generation, keys: Keys, remark = ''): Json {
  try {
    return readTerminated(text, keys, { ...bodyLimits, values: freeValues + received });
  } catch (error) {
    if (error instanceof MalformedJson) throw new Rejection(invalid(generation), `body ${error.message}${remark}`);
    throw error;
  }
}

function fromBase64(bytes: Uint8Array): Buffer | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').trim();
  const unquoted = text.startsWith('"') && text.endsWith('"') ? unescaped(text) : text;
  return /^[A-Za-z0-9+/]+={0,2}$/.test(unquoted) ? Buffer.from(unquoted, 'base64') : undefined;
}

/** Many serialisers of JSON escape `+`, `/` or `=`. */
const unescaped = (quoted: string): string =>
  quoted.includes('\\') ? String(jsonValue(quoted) ?? '') : quoted.slice(1, -1);
