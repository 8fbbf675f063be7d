import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesHeld,
  bytesReceived,
  bytesToReserve,
  decodeBody,
  maxReceivedBytes,
  mostToReserve,
  readBody,
} from '../../src/protocol/body.ts';
import { memoryOf } from '../../src/protocol/event.ts';
import { allKeys, terminated } from '../../src/protocol/json.ts';
import { hubEvent } from '../support/events.ts';

const limit = 1000;
const { properties: _, ...bare } = hubEvent();
const text = '{"model":"svc.device"}';
const decode = async (body: unknown, encoding?: string, generation: 'V1' | 'V2' = 'V2') => {
  const bytes = decodeBody(body, generation, encoding, limit);
  expect(bytes.at(-1)).toBe(0);
  return bytes.subarray(0, -1).toString();
};

describe('a V2 body', () => {
  it.each([undefined, '', 'utf8', 'UTF-8', 'utf-8', 'identity'])('with the encoding %s is plain', async (encoding) =>
    expect(await decode(Buffer.from(text), encoding)).toBe(text),
  );

  describe.each([
    ['gzip', gzipSync],
    ['GZip', gzipSync],
    ['deflate', deflateSync],
  ])('with content-encoding %s', (encoding, compress) => {
    it('may be base64 text', async () =>
      expect(await decode(Buffer.from(compress(text).toString('base64')), encoding)).toBe(text));
    it('may be base64 text with blanks around it', async () =>
      expect(await decode(Buffer.from(` ${compress(text).toString('base64')}\r\n`), encoding)).toBe(text));
    it('may be base64 text in JSON quotes', async () =>
      expect(await decode(Buffer.from(JSON.stringify(compress(text).toString('base64'))), encoding)).toBe(text));
    it.each([
      ['/', '\\/'],
      ['+', '\\u002B'],
      ['=', '\\u003d'],
    ])('may be base64 text in JSON quotes with %s as %s, which serialisers write', async (plain, escaped) => {
      const found = [...Array(64).keys()]
        .map((padding) => ({ padded: `${text}${' '.repeat(padding)}` }))
        .map(({ padded }) => [padded, compress(padded).toString('base64')] as const)
        .find(([, base64]) => base64.includes(plain));
      const [padded, sent = ''] = found ?? [];
      expect(await decode(Buffer.from(`"${sent.replaceAll(plain, escaped)}"`), encoding)).toBe(padded);
    });

    it.each([
      ['a character before it', (base64: string) => `!${base64}`],
      ['a character behind it', (base64: string) => `${base64}!`],
      ['a line break in it', (base64: string) => `${base64.slice(0, 8)}\n${base64.slice(8)}`],
      ['a quote before it only', (base64: string) => `"${base64}`],
      ['a quote behind it only', (base64: string) => `${base64}"`],
      ['an escape in JSON quotes that JSON has not', (base64: string) => `"\\x${base64}"`],
    ])('is refused as base64 text with %s', (_, spoil) =>
      expect(decode(Buffer.from(spoil(compress(text).toString('base64'))), encoding)).rejects.toMatchObject({
        code: 'decompression_error',
        details: `body is neither ${encoding.toLowerCase()} data nor base64 text of it`,
      }),
    );

    it('may be the compressed bytes themselves', async () => expect(await decode(compress(text), encoding)).toBe(text));

    it('is read with any content and any compression level', async () => {
      const options = fc.record({ level: fc.integer({ min: 0, max: 9 }), windowBits: fc.integer({ min: 9, max: 15 }) });
      await fc.assert(
        fc.asyncProperty(
          fc.string({ maxLength: 200, unit: 'binary' }),
          options,
          fc.boolean(),
          async (any, how, raw) => {
            const data = compress(any, how);
            expect(await decode(raw ? data : Buffer.from(data.toString('base64')), encoding)).toBe(
              Buffer.from(any).toString(),
            );
          },
        ),
      );
    });

    it('is refused beyond the limit when inflated', async () => {
      await expect(decode(compress('x'.repeat(limit)), encoding)).resolves.toHaveLength(limit);
      const expected = { code: 'decompression_error', details: 'body is larger than 1000 bytes when decompressed' };
      await expect(decode(compress('x'.repeat(limit + 1)), encoding)).rejects.toMatchObject(expected);
    });

    it.each([
      ['a byte', Buffer.from('x')],
      ['a zero', Buffer.from([0])],
      ['zeros', Buffer.alloc(64)],
    ])('is refused with trailing data: %s', (_what, more) =>
      expect(decode(Buffer.concat([compress(text), more]), encoding)).rejects.toMatchObject({
        code: 'decompression_error',
        details: `body is not valid ${encoding.toLowerCase()} data`,
      }),
    );

    it.each([
      ['plain JSON', text],
      ['nothing', ''],
      ['base64 of something else', 'aGVsbG8='],
    ])('is refused when it is %s', (_what, body) =>
      expect(decode(Buffer.from(body), encoding)).rejects.toMatchObject({ code: 'decompression_error' }),
    );
  });

  it('may be base64 text whose first two bytes have the checksum of deflated data', async () => {
    const written = Buffer.from(`\n${deflateSync(text, { windowBits: 10 }).toString('base64')}`);
    expect(written.readUInt16BE() % 31).toBe(0);
    expect(await decode(written, 'deflate')).toBe(text);
  });

  it('with another content-encoding is refused', () =>
    expect(decode(Buffer.from(text), 'br')).rejects.toMatchObject({
      code: 'decompression_error',
      details:
        'property content-encoding must be one of utf8, utf-8, identity, gzip, deflate (in any case), empty or absent',
    }));

  it('that is not bytes is a validation failure', () =>
    expect(decode({ an: 'AMQP map' })).rejects.toMatchObject({ code: 'validation_error' }));
});

describe('a V1 body', () => {
  it.each(['', 'utf8', 'UTF-8', 'Identity', undefined])('may declare that it is not compressed: %j', async (encoding) =>
    expect(await decode(Buffer.from(text), encoding, 'V1')).toBe(text),
  );

  it.each(['gzip', 'GZIP', 'deflate', 'br', ' utf8'])('must not declare that it is compressed: %j', (encoding) =>
    expect(decode(Buffer.from(text), encoding, 'V1')).rejects.toMatchObject({
      code: 'platform_event_validation_error',
      details:
        'property content-encoding must be one of utf8, utf-8, identity (in any case), empty or absent: the body of an event is never compressed',
    }),
  );
});

it('a body of more bytes than the hub accepts from a device is refused unread', async () => {
  await expect(decode(Buffer.alloc(maxReceivedBytes, ' '))).resolves.toHaveLength(maxReceivedBytes);
  const expected = { code: 'validation_error', details: 'body has 262145 bytes, more than the limit of 262144' };
  await expect(decode(Buffer.alloc(maxReceivedBytes + 1, ' '))).rejects.toMatchObject(expected);
});

describe('the reservation for a message', () => {
  /** Without what the properties take. */
  function reserve(length: number, encoding?: string): number {
    const properties = { 'content-encoding': encoding };
    return bytesToReserve(hubEvent({ body: Buffer.alloc(length), properties }), 524_288) - memoryOf(properties);
  }

  it('is the largest inflated size when the message declares compression', () => {
    expect(reserve(4_096, 'GZIP')).toBe(3 * 4_096 + 6 * 524_288);
    expect(reserve(100, 'deflate')).toBe(3 * 100 + 6 * 103_200);
    expect(reserve(4_096, 'utf8')).toBe(7 * 4_096);
  });

  it('never exceeds the value that settings are checked against', () => {
    const lengths = [0, 1, 4_096, maxReceivedBytes, maxReceivedBytes + 1, 1_048_576];
    const most = Math.max(...lengths.flatMap((length) => [reserve(length), reserve(length, 'gzip')]));
    expect(most).toBe(mostToReserve(524_288));
  });

  it('includes a body of text', () => expect(bytesToReserve({ ...bare, body: 'é' }, 524_288)).toBe(14));

  it('includes the properties', () => {
    const properties = { name: 'x'.repeat(30_000) };
    expect(bytesToReserve({ ...bare, body: Buffer.alloc(1), properties }, 524_288)).toBeGreaterThan(30_000);
  });
});

it('a body that is text instead of bytes is read', async () => {
  expect([await decode('{"ü":1}'), bytesReceived({ ...bare, body: 'ü' })]).toEqual(['{"ü":1}', 2]);
  expect(bytesReceived({ ...bare, body: Buffer.from('ü') })).toBe(2);
});

it.each<readonly [body: unknown, least: number, most: number]>([
  [undefined, 0, 0],
  [null, 0, 0],
  [5, 0, 0],
  [{ a: 1 }, 1, 200],
  [['a'], 1, 200],
  [[Buffer.alloc(60_000), Buffer.alloc(60_000)], 120_000, 121_000],
  [{ map: { list: [['x'.repeat(60_000)]] } }, 60_000, 121_000],
])('a body that is %j is refused, with a reservation of what it holds', async (body, least, most) => {
  const expected = { code: 'validation_error', details: 'body must be bytes (one AMQP data section)' };
  await expect(decode(body)).rejects.toMatchObject(expected);
  const reserved = bytesToReserve({ ...bare, body }, limit);
  expect(bytesReceived({ ...bare, body })).toBeLessThanOrEqual(most);
  expect(reserved).toBeGreaterThanOrEqual(least);
});

it('a body has a reservation without property bags, too', () =>
  expect(bytesToReserve({ ...bare, body: Buffer.alloc(10) }, limit)).toBeGreaterThanOrEqual(10));

it('the memory of a read body is its bytes and its texts: twice as much with non-ASCII characters', () => {
  const held = (written: string) => {
    const bytes = Buffer.from(written);
    return (
      bytesHeld({ ...bare, body: bytes }, readBody(terminated(bytes), bytes.byteLength, 'V2', allKeys)) /
      bytes.byteLength
    );
  };
  expect(held('{"a":"u"}')).toBe(1 + 4);
  expect(held('{"a":"ü"}')).toBe(1 + 6);
});

it.each([
  ['V1', 'platform_event_validation_error'],
  ['V2', 'validation_error'],
] as const)('a %s body that is not JSON is refused with %s', (generation, code) => {
  expect(() => readBody(Buffer.from('{\0'), 1, generation, allKeys)).toThrow(
    expect.objectContaining({ code, details: expect.stringMatching(/^body /) }),
  );
  const find = () => {
    throw new TypeError('a defect');
  };
  expect(() => readBody(Buffer.from('{"a":1}\0'), 7, generation, find)).toThrow(TypeError);
});
