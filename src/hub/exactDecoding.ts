import { textless } from '../protocol/properties.ts';

/** The messages of an AMQP library. */
export interface MessageCodec {
  decode(bytes: Buffer | undefined): object;
  data_section(bytes: Buffer): object;
}

export interface ExactDecoding {
  /** A usual message; undefined when it is left to the library. */
  usual(bytes: Buffer): object | undefined;
  /** Makes the application properties exact in a message that the library has decoded, within the bounds of D190. */
  correct(message: object, bytes: Buffer): void;
}

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
/** The library's own limit for a number of 64 bits, in its upper half; beyond it gives bytes. */
const mostHigh = 2 ** 21;
const namesKept = 256;
const longestKept = 64;

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
export function createExactDecoding({ decode, data_section }: MessageCodec): ExactDecoding {
  /** The encoded names that came last, and their texts: devices and hub use the same ones again and again. */
  const names: ({ readonly encoded: Uint8Array; readonly text: string } | undefined)[] =
    Array(namesKept).fill(undefined);
  const empty = Buffer.alloc(0);
  let bytes: Buffer = empty;
  let at = 0;
  /** Of the list or map that is read. */
  let end = 0;

  /** The next item as the library has it. */
  function item(): unknown {
    const code = bytes[at] ?? 0;
    const from = at + 1;
    at = from + (widths[code >>> 4] ?? 0);
    if (at > end) return left;
    switch (code) {
      case 0x40:
        return null;
      case 0x41:
        return true;
      case 0x42:
        return false;
      case 0x43:
      case 0x44:
        return 0;
      case 0x50:
      case 0x52:
      case 0x53:
      case 0x56:
        return bytes[from];
      case 0x51:
      case 0x54:
      case 0x55:
        return bytes.readInt8(from);
      case 0x60:
        return bytes.readUInt16BE(from);
      case 0x61:
        return bytes.readInt16BE(from);
      case 0x70:
      case 0x73:
        return bytes.readUInt32BE(from);
      case 0x71:
        return bytes.readInt32BE(from);
      case 0x72:
        return bytes.readFloatBE(from);
      case 0x80:
        return rounded(bytes.readUInt32BE(from), from);
      case 0x81:
        return rounded(bytes.readInt32BE(from), from);
      case 0x82:
        return bytes.readDoubleBE(from);
      case 0x83: {
        const time = rounded(bytes.readInt32BE(from), from);
        return typeof time === 'number' ? new Date(time) : left;
      }
      case 0x74:
      case 0x84:
      case 0x94:
      case 0x98:
        return bytes.subarray(from, at);
      case 0xa0:
      case 0xa1:
      case 0xa3:
      case 0xb0:
      case 0xb1:
      case 0xb3:
        return sized(code, from);
      default:
        return left;
    }
  }

  function rounded(high: number, from: number): number | Buffer {
    if (high > mostHigh || high < -mostHigh) return bytes.subarray(from, at);
    return high * 2 ** 32 + bytes.readUInt32BE(from + 4);
  }

  /** A binary, string or symbol, whose size has been passed. */
  function sized(code: number, size: number): unknown {
    const from = at;
    at += code < 0xb0 ? (bytes[size] ?? 0) : bytes.readUInt32BE(size);
    if (at > end) return left;
    if ((code & 1) === 0) return bytes.subarray(from, at);
    return bytes.toString((code & 2) === 0 ? 'utf8' : 'ascii', from, at);
  }

  /** The next item of application properties. */
  function exactItem(): unknown {
    const code = bytes[at] ?? 0;
    const from = at + 1;
    const read = item();
    if (read === left) return left;
    switch (code) {
      case 0x56:
        return read !== 0;
      case 0x73:
        return characterOf(read as number);
      case 0x80:
        return Number.isSafeInteger(read) ? read : String(bytes.readBigUInt64BE(from));
      case 0x81:
        return Number.isSafeInteger(read) ? read : String(bytes.readBigInt64BE(from));
      case 0x83:
        return timeOf(read as Date);
      case 0x98:
        return bytes.toString('hex', from, at).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      default:
        return Buffer.isBuffer(read) ? textless(typeOf(code)) : read;
    }
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
    const width = code === small ? 1 : 4;
    const content = at + 1 + width;
    if ((code !== small && code !== small + 0x10) || content + width > bytes.length) return none;
    const [size, count] =
      width === 1
        ? [bytes[at + 1] ?? 0, bytes[content] ?? 0]
        : [bytes.readUInt32BE(at + 1), bytes.readUInt32BE(content)];
    at = content + width;
    end = content + size;
    return end > bytes.length ? none : count;
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

  function section(code: number, message: Bag): boolean {
    switch (code) {
      case 0x70:
        return list(message, headerFields);
      case 0x71:
        return map(message, 'delivery_annotations', item);
      case 0x72:
        return map(message, 'message_annotations', item);
      case 0x73:
        return list(message, standardFields);
      case 0x74:
        return map(message, 'application_properties', exactItem);
      case 0x75: {
        end = bytes.length;
        const data = bytes[at] === 0xa0 || bytes[at] === 0xb0 ? item() : left;
        if (data !== left) message['body'] = data_section(data as Buffer);
        return data !== left;
      }
      default:
        return false;
    }
  }

  /** The next value of a message that has been checked; what `read` leaves is passed. */
  function orPassed(read: () => unknown): unknown {
    const from = at;
    const value = read();
    if (value === left) {
      at = from;
      pass();
    }
    return value;
  }

  function pass(): void {
    const code = bytes[at] ?? 0;
    const width = widths[code >>> 4] ?? 0;
    at += 1 + width;
    if (code >= 0xa0) at += width === 1 ? (bytes[at - 1] ?? 0) : bytes.readUInt32BE(at - 4);
    if (code !== 0) return;
    pass(); // the descriptor
    pass();
  }

  return {
    usual(given) {
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

    correct(message, given) {
      bytes = given;
      let map = none;
      for (at = 0; at < bytes.length; pass()) {
        at += bytes[at + 1] === 0x53 ? 3 : 10; // code of the section in one byte, or in eight
        if (bytes[at - 1] === 0x74) map = at;
      }
      if (map === none) return;
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

function typeOf(code: number): string {
  switch (code) {
    case 0x00:
      return 'described value';
    case 0x74:
    case 0x84:
    case 0x94:
      return 'decimal';
    case 0x83:
      return 'timestamp';
    case 0xa0:
    case 0xb0:
      return 'binary';
    case 0xc1:
    case 0xd1:
      return 'map';
    case 0xe0:
    case 0xf0:
      return 'array';
    default:
      return 'list';
  }
}
