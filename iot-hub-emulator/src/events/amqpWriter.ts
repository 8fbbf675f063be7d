/**
 * Writes AMQP 1.0 values into one buffer that is used again and again. rhea can write everything, but it makes objects of
 * each value first; this is for what is written by the million.
 */
export interface AmqpWriter {
  /** Begin a section of a message by its code, such as 0x74 for the application properties. */
  section(code: number): void;
  /** A map, or a list, of so many values (of a map: keys and values together) that `write` then writes. */
  compound(kind: 'map' | 'list', count: number, write: () => void): void;
  string(text: string): void;
  /** ASCII. */
  symbol(text: string): void;
  binary(bytes: Buffer): void;
  long(value: number): void;
  /** Milliseconds since 1970. */
  timestamp(value: number): void;
  nothing(): void;
  /** Values that were written before. */
  encoded(bytes: Buffer): void;
  /** All that was written since the last time; the bytes hold until the next value is written. */
  take(): Buffer;
}

const code = { null: 0x40, section: 0x53, long: 0x81, timestamp: 0x83, list32: 0xd0, map32: 0xd1 };
const short = { binary: 0xa0, string: 0xa1, symbol: 0xa3 };
const long = { binary: 0xb0, string: 0xb1, symbol: 0xb3 };

/** A writer with a buffer of its own. */
export function createAmqpWriter(): AmqpWriter {
  let buffer = Buffer.allocUnsafeSlow(64 * 1024);
  let end = 0;

  const reserve = (bytes: number): void => {
    if (end + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (end + bytes));
    buffer.copy(larger, 0, 0, end);
    buffer = larger;
  };
  const byte = (value: number): void => {
    reserve(1);
    buffer[end++] = value;
  };
  const wide = (type: number, value: number): void => {
    reserve(9);
    buffer[end] = type;
    const high = Math.floor(value / 2 ** 32);
    buffer.writeInt32BE(high, end + 1);
    buffer.writeUInt32BE(value - high * 2 ** 32, end + 5);
    end += 9;
  };
  const encoded = (bytes: Buffer): void => {
    reserve(bytes.length);
    end += bytes.copy(buffer, end);
  };
  /** Type and length, 8 bits or 32. */
  const head = (type: keyof typeof short, length: number): void => {
    reserve(5 + length);
    if (length < 256) {
      buffer[end] = short[type];
      buffer[end + 1] = length;
      end += 2;
    } else {
      buffer[end] = long[type];
      end = buffer.writeUInt32BE(length, end + 1);
    }
  };
  const text = (type: 'string' | 'symbol', value: string): void => {
    head(type, Buffer.byteLength(value));
    end += buffer.write(value, end);
  };

  return {
    section(sectionCode) {
      byte(0);
      byte(code.section);
      byte(sectionCode);
    },
    compound(kind, count, write) {
      reserve(9);
      buffer[end] = kind === 'map' ? code.map32 : code.list32;
      const size = end + 1;
      end = buffer.writeUInt32BE(count, end + 5);
      write();
      buffer.writeUInt32BE(end - size - 4, size);
    },
    string: (value) => text('string', value),
    symbol: (value) => text('symbol', value),
    binary(bytes) {
      head('binary', bytes.length);
      encoded(bytes);
    },
    long: (value) => wide(code.long, value),
    timestamp: (value) => wide(code.timestamp, value),
    nothing: () => byte(code.null),
    encoded,
    take() {
      const written = buffer.subarray(0, end);
      end = 0;
      return written;
    },
  };
}

const own = createAmqpWriter();

/** A section that is a map of these entries, each of which has its key and its value. */
export function writeSection(sectionCode: number, entries: readonly Buffer[]): Buffer {
  own.section(sectionCode);
  own.compound('map', 2 * entries.length, () => {
    for (const entry of entries) own.encoded(entry);
  });
  return Buffer.from(own.take());
}
