import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { Rejection } from '../rejection.ts';
import { invalid } from './envelope.ts';
import type { Generation } from './event.ts';
import { type Json, MalformedJson, readJson } from './json.ts';

interface Compression {
  readonly inflate: (data: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;
  /** Whether the bytes are the compressed data itself and not base64 text of it. */
  readonly isRaw: (bytes: Uint8Array) => boolean;
}

const encodings = new Map<string, Compression | 'none'>([
  ['', 'none'],
  ['utf8', 'none'],
  ['utf-8', 'none'],
  ['identity', 'none'],
  ['gzip', { inflate: promisify(gunzip), isRaw: isGzip }],
  ['deflate', { inflate: promisify(inflate), isRaw: isZlib }],
]);

/** The values of `content-encoding`, read without regard to case (R6). */
export const contentEncodings: readonly string[] = [...encodings.keys()];

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
  return encoding.inflate(compressed, { maxOutputLength: maxInflated }).catch((error: NodeJS.ErrnoException) => {
    const why =
      error.code === 'ERR_BUFFER_TOO_LARGE'
        ? `body is larger than ${maxInflated} bytes when decompressed`
        : `body is not valid ${name} data`;
    throw new Rejection('decompression_error', why);
  });
}

/**
 * @throws Rejection the generation's validation failure
 */
export function readBody(bytes: Uint8Array, generation: Generation): Json {
  try {
    return readJson(bytes);
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
