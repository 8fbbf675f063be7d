import type library from 'rhea/lib/message.js';
import { textless } from '../protocol/event.ts';
import { endOf } from './decodable.ts';

type Bag = Record<string, unknown>;

/** In place of what is left to the library. */
const left = Symbol('left');
const none = -1;

/** What the library calls the fields of a header, and of the standard properties. */
const headerFields = ['durable', 'priority', 'ttl', 'first_acquirer', 'delivery_count'];
const standardFields = [
  ...['message_id', 'user_id', 'to', 'subject', 'reply_to', 'correlation_id', 'content_type', 'content_encoding'],
  ...['absolute_expiry_time', 'creation_time', 'group_id', 'group_sequence', 'reply_to_group_id'],
];

/** Bytes of a value, or of its size, by the first digit of its code. */
const widths = [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 1, 4, 1, 4, 1, 4] as const;
/** In a map; within the bounds of D190. */
const mostItems = 1_000;
const namesKept = 256;
const longestKept = 64;
/** With more in the upper half of 64 bits, the library gives the bytes. */
const mostHigh = 2 ** 21;
const wide = (high: number, bytes: Buffer, at: number): number | Buffer =>
  Math.abs(high) > mostHigh ? bytes.subarray(at, at + 8) : high * 2 ** 32 + bytes.readUInt32BE(at + 4);

function timestamp(bytes: Buffer, at: number): unknown {
  const time = wide(bytes.readInt32BE(at), bytes, at);
  return typeof time === 'number' ? new Date(time) : left;
}

/** What the library reads of the types with a width of their own, by their codes. */
const readings: readonly (readonly [codes: readonly number[], read: (bytes: Buffer, at: number) => unknown])[] = [
  [[0x40], () => null],
  [[0x41], () => true],
  [[0x42], () => false],
  [[0x43, 0x44], () => 0],
  [[0x50, 0x52, 0x53, 0x56], (bytes, at) => bytes[at]],
  [[0x51, 0x54, 0x55], (bytes, at) => bytes.readInt8(at)],
  [[0x60], (bytes, at) => bytes.readUInt16BE(at)],
  [[0x61], (bytes, at) => bytes.readInt16BE(at)],
  [[0x70, 0x73], (bytes, at) => bytes.readUInt32BE(at)],
  [[0x71], (bytes, at) => bytes.readInt32BE(at)],
  [[0x72], (bytes, at) => bytes.readFloatBE(at)],
  [[0x74], (bytes, at) => bytes.subarray(at, at + 4)],
  [[0x80], (bytes, at) => wide(bytes.readUInt32BE(at), bytes, at)],
  [[0x81], (bytes, at) => wide(bytes.readInt32BE(at), bytes, at)],
  [[0x82], (bytes, at) => bytes.readDoubleBE(at)],
  [[0x83], timestamp],
  [[0x84], (bytes, at) => bytes.subarray(at, at + 8)],
  [[0x94, 0x98], (bytes, at) => bytes.subarray(at, at + 16)],
];
const readingOf = new Map(readings.flatMap(([codes, read]) => codes.map((code) => [code, read] as const)));

/**
 * Decodes usual messages without the library's object for each value. Its result is the library's, except for application
 * properties, which are exact (R4): the library rounds numbers beyond 2^53, and gives uuid, decimal and binary alike.
 *
 *   message  [header 0x70] [delivery annotations 0x71] [message annotations 0x72] [properties 0x73]
 *            [application properties 0x74] [data 0x75]; each is 0x00, 0x53, its code, and a value:
 *            of header and properties a list of items, of data a binary, else a map of names and items
 *   name     a string or symbol
 *   item     of any type but list, map and array, and not described
 */
export function createExactDecoding({ decode, data_section }: Pick<typeof library, 'decode' | 'data_section'>) {
  /** The encoded names that came last, and their texts: devices and hub use the same ones again and again. */
  const names: ({ encoded: Uint8Array; text: string } | undefined)[] = Array(namesKept).fill(undefined);
  const empty = Buffer.alloc(0);
  let bytes: Buffer = empty;
  let at = 0;
  let end = 0;

  const numberAt = (place: number, width: number) => (width === 1 ? (bytes[place] ?? 0) : bytes.readUInt32BE(place));

  function item(): unknown {
    const code = bytes[at] ?? 0;
    const from = at + 1;
    at = from + (widths[code >>> 4] ?? 0);
    if (at > end) return left;
    if (code >= 0xa0) return code < 0xc0 ? sized(code, from) : left;
    const read = readingOf.get(code);
    return read === undefined ? left : read(bytes, from);
  }

  /** A binary, string or symbol, whose size has been passed. */
  function sized(code: number, size: number): unknown {
    const from = at;
    at += numberAt(size, from - size);
    if (at > end) return left;
    const kind = code & 0x0f;
    if (kind === 0) return bytes.subarray(from, at);
    if (kind === 1) return bytes.toString('utf8', from, at);
    return kind === 3 ? bytes.toString('ascii', from, at) : left;
  }

  /** The next item of application properties. */
  function exactItem(): unknown {
    const code = bytes[at] ?? 0;
    const from = at + 1;
    const read = item();
    if (read === left) return left;
    if (code === 0x56) return read !== 0;
    if (code === 0x73) return characterOf(read as number);
    if (code === 0x80) return Number.isSafeInteger(read) ? read : String(bytes.readBigUInt64BE(from));
    if (code === 0x81) return Number.isSafeInteger(read) ? read : String(bytes.readBigInt64BE(from));
    if (code === 0x83) return timeOf(read as Date);
    if (code === 0x98) return bytes.toString('hex', from, at).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    return Buffer.isBuffer(read) ? textless(typeOf(code)) : read;
  }

  function name(): unknown {
    const from = at;
    const size = bytes[from + 1] ?? 0;
    const place = (31 * size + 7 * (bytes[from + 2] ?? 0) + (bytes[from + 1 + size] ?? 0)) % namesKept;
    const kept = names[place];
    if (kept !== undefined && comes(kept.encoded)) return kept.text;
    const text = item();
    if (typeof text !== 'string' || text === '__proto__') return left;
    if (at - from <= longestKept) names[place] = { encoded: Uint8Array.from(bytes.subarray(from, at)), text };
    return text;
  }

  /** Passes these bytes when they come next. */
  function comes(expected: Uint8Array): boolean {
    for (let index = 0; index < expected.length; index += 1) {
      if (bytes[at + index] !== expected[index]) return false;
    }
    at += expected.length;
    return true;
  }

  /** How many items the next value has, which is a list or map. */
  function opened(small: 0xc0 | 0xc1): number {
    const code = bytes[at] ?? 0;
    const width = widths[code >>> 4] ?? 0;
    const content = at + 1 + width;
    if ((code & 0xef) !== small || content + width > bytes.length) return none;
    at = content + width;
    end = content + numberAt(content - width, width);
    return end > bytes.length ? none : numberAt(content, width);
  }

  function list(into: Bag, fields: readonly string[]): boolean {
    if (bytes[at] === 0x45) {
      at += 1;
      return true;
    }
    const count = opened(0xc0);
    if (count === none || count > fields.length) return false;
    for (let index = 0; index < count; index += 1) {
      const value = item();
      if (value === left) return false;
      if (value !== null) into[fields[index] as string] = value;
    }
    return at === end;
  }

  function map(into: Bag, field: string, next: () => unknown): boolean {
    const count = opened(0xc1);
    if (count === none || count > mostItems || count % 2 === 1) return false;
    const bag: Bag = {};
    for (let rest = count; rest > 0; rest -= 2) {
      const key = name();
      const value = key === left ? left : next();
      if (value === left) return false;
      bag[key as string] = value;
    }
    into[field] = bag;
    return at === end;
  }

  function data(into: Bag): boolean {
    end = bytes.length;
    const value = ((bytes[at] ?? 0) & 0xef) === 0xa0 ? item() : left;
    if (value !== left) into['body'] = data_section(value as Buffer);
    return value !== left;
  }

  function section(code: number, message: Bag): boolean {
    if (code === 0x70) return list(message, headerFields);
    if (code === 0x71) return map(message, 'delivery_annotations', item);
    if (code === 0x72) return map(message, 'message_annotations', item);
    if (code === 0x73) return list(message, standardFields);
    if (code === 0x74) return map(message, 'application_properties', exactItem);
    return code === 0x75 && data(message);
  }

  /** The next value of a message that has been checked; what `read` leaves is passed. */
  function orPassed(read: () => unknown): unknown {
    const from = at;
    const value = read();
    if (value === left) at = endOf(bytes, from);
    return value;
  }

  return {
    /** A usual message; undefined when it is left to the library. */
    usual(given: Buffer): object | undefined {
      bytes = given;
      at = 0;
      const message = decode(empty) as Bag;
      for (let last = 0; at < bytes.length; ) {
        const code = bytes[at + 2] ?? 0;
        if (bytes[at] !== 0 || bytes[at + 1] !== 0x53 || code <= last) return undefined;
        at += 3;
        if (!section(code, message)) return undefined;
        last = code;
      }
      return message;
    },

    /** Makes the application properties exact, which begin at `map` in a message that the library has decoded, within the bounds of D190. */
    correct(message: object, given: Buffer, map: number): void {
      bytes = given;
      const { application_properties: bag } = message as { application_properties: Bag };
      at = map;
      for (let rest = opened(0xc1); rest > 1; rest -= 2) {
        const key = orPassed(name);
        const code = bytes[at] ?? 0;
        const value = orPassed(exactItem);
        if (typeof key === 'string') bag[key] = value === left ? textless(typeOf(code)) : value;
      }
    },
  };
}

const characterOf = (code: number): unknown =>
  code < 0xd800 || (code > 0xdfff && code < 0x11_0000) ? String.fromCodePoint(code) : textless('char');

/** A timestamp may be millions of years away. */
const timeOf = (time: Date): unknown => (Number.isNaN(time.getTime()) ? textless('timestamp') : time.toISOString());

/** Of a value without a text. */
function typeOf(code: number): string {
  if (code === 0) return 'described value';
  if (code === 0x83) return 'timestamp';
  if (code >= 0xe0) return 'array';
  if (code >= 0xc0) return (code & 1) === 1 ? 'map' : 'list';
  if (code >= 0xa0) return 'binary';
  return code === 0x45 ? 'list' : 'decimal';
}
