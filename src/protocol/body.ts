import { isAscii } from 'node:buffer';
import { gunzip, inflate, type Zlib } from 'node:zlib';
import { invalid } from './envelope.ts';
import type { Generation, HubEvent } from './event.ts';
import { bodyLimits, type Json, MalformedJson, readJson } from './json.ts';
import type { Keys } from './jsonKeys.ts';
import { Rejection } from './rejection.ts';

interface Compression {
  readonly inflate: typeof gunzip;
  /** Whether the bytes are the compressed data itself and not base64 text of it. */
  readonly isRaw: (bytes: Uint8Array) => boolean;
}

const encodings = new Map<string, Compression | 'none'>([
  ['', 'none'],
  ['utf8', 'none'],
  ['utf-8', 'none'],
  ['identity', 'none'],
  ['gzip', { inflate: gunzip, isRaw: isGzip }],
  ['deflate', { inflate, isRaw: isZlib }],
]);

/** The values of `content-encoding`, read without regard to case (R6). */
export const contentEncodings: readonly string[] = [...encodings.keys()];

/** The hub takes no larger message from a device. */
export const maxReceivedBytes = 262_144;

/**
 * Memory that a byte of JSON text takes while its message is in work: the copy that is read (1), the text (1, or 2 when
 * any of its characters is beyond ASCII), the text with a member changed (the same again), and the bytes that are on
 * their way to a backend (1).
 */
const perAsciiByte = 4;
const perByte = 6;

/** Base64 text of a compressed body and the bytes decoded from it, beside the body itself. */
const perCompressedByte = 2;

/** No deflated byte stands for more. */
const mostInflated = 1_032;

/** Bytes of memory that a message takes with a body that nobody looks at. */
export function bytesReceived({ body }: HubEvent): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body instanceof Uint8Array ? body.byteLength : 0;
}

/**
 * Bytes of memory to reserve before a message is handled, whatever its body turns out to be (R6).
 * @param maxInflated most bytes a compressed body may become
 */
export function bytesToReserve(event: HubEvent, maxInflated: number): number {
  const received = bytesReceived(event);
  if (received > maxReceivedBytes) return received; // it is refused unread
  if (!isCompressed(event.properties?.['content-encoding'])) return received + perByte * received;
  return received + perCompressedByte * received + perByte * Math.min(maxInflated, mostInflated * received);
}

/** The most that is ever reserved for one message. */
export const mostToReserve = (maxInflated: number): number =>
  (1 + perCompressedByte) * maxReceivedBytes + perByte * Math.max(maxInflated, maxReceivedBytes);

/** Bytes of memory that a message takes once its body has been read (R6). */
export function bytesHeld(event: HubEvent, { place: { bytes, end } }: Json): number {
  return bytesReceived(event) + (isAscii(bytes) ? perAsciiByte : perByte) * end;
}

const isCompressed = (contentEncoding: unknown): boolean =>
  typeof contentEncoding === 'string' && typeof encodings.get(contentEncoding.toLowerCase()) === 'object';

/**
 * The body of a message as bytes of JSON text. V2 bodies may be compressed: raw, or as base64 text, quoted or not (R6).
 * @param maxInflated most bytes a compressed body may become
 * @throws Rejection decompression_error
 */
export function decodeBody(
  body: unknown,
  generation: Generation,
  contentEncoding: string | undefined,
  maxInflated: number,
): Uint8Array | Promise<Uint8Array> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (!(bytes instanceof Uint8Array)) {
    throw new Rejection(invalid(generation), 'body must be bytes (one AMQP data section)');
  }
  if (bytes.byteLength > maxReceivedBytes) {
    throw new Rejection(
      invalid(generation),
      `body has ${bytes.byteLength} bytes, more than the limit of ${maxReceivedBytes}`,
    );
  }
  if (generation === 'V1' || contentEncoding === undefined) return bytes;
  const name = contentEncoding.toLowerCase();
  const encoding = encodings.get(name);
  if (encoding === undefined) {
    throw new Rejection('decompression_error', 'property content-encoding must be utf8, gzip or deflate');
  }
  if (encoding === 'none') return bytes;

  const compressed = encoding.isRaw(bytes) ? bytes : fromBase64(bytes);
  if (compressed === undefined) {
    throw new Rejection('decompression_error', `body is neither ${name} data nor base64 text of it`);
  }
  return inflated(encoding, name, compressed, maxInflated);
}

/** What `info` asks zlib for. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: Zlib;
}

async function inflated({ inflate }: Compression, name: string, data: Uint8Array, most: number): Promise<Buffer> {
  // One piece: each is a round trip to another thread, and several are copied into one. zlib takes no chunk below 64.
  const chunkSize = Math.max(64, Math.min(most, mostInflated * data.byteLength));
  const options = { maxOutputLength: most, chunkSize, info: true };
  return new Promise((resolve, reject) => {
    inflate(data, options, (error: NodeJS.ErrnoException | null, result) => {
      const { buffer, engine } = Object(result) as Inflated;
      if (error === null && engine.bytesWritten === data.byteLength) resolve(buffer);
      else {
        const isTooLarge = error?.code === 'ERR_BUFFER_TOO_LARGE';
        const why = isTooLarge ? `is larger than ${most} bytes when decompressed` : `is not valid ${name} data`;
        reject(new Rejection('decompression_error', `body ${why}`));
      }
    });
  });
}

/**
 * @throws Rejection the generation's validation failure
 */
export function readBody(bytes: Uint8Array, generation: Generation, keys: Keys): Json {
  try {
    return readJson(bytes, keys, bodyLimits);
  } catch (error) {
    if (error instanceof MalformedJson) throw new Rejection(invalid(generation), `body ${error.message}`);
    throw error;
  }
}

// The first bytes of compressed data are no base64 text that would itself decode to compressed data.
function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function isZlib(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}

function fromBase64(bytes: Uint8Array): Buffer | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').trim();
  const unquoted = text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
  return /^[A-Za-z0-9+/]+={0,2}$/.test(unquoted) ? Buffer.from(unquoted, 'base64') : undefined;
}
