import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody } from '../../src/protocol/body.ts';

const limit = 1000;
const text = '{"model":"svc.device"}';
const decode = async (body: unknown, encoding?: string, generation: 'V1' | 'V2' = 'V2') =>
  Buffer.from(await decodeBody(body, generation, encoding, limit)).toString();

describe('a V2 body', () => {
  it.each([undefined, '', 'utf8', 'UTF-8', 'utf-8', 'identity'])(
    'with content-encoding %s is plain',
    async (encoding) => {
      expect(await decode(Buffer.from(text), encoding)).toBe(text);
    },
  );

  describe.each([
    ['gzip', gzipSync],
    ['GZip', gzipSync],
    ['deflate', deflateSync],
  ])('with content-encoding %s', (encoding, compress) => {
    it('may be base64 text', async () => {
      expect(await decode(Buffer.from(compress(text).toString('base64')), encoding)).toBe(text);
    });

    it('may be base64 text in JSON quotes', async () => {
      expect(await decode(Buffer.from(JSON.stringify(compress(text).toString('base64'))), encoding)).toBe(text);
    });

    it('may be the compressed bytes themselves', async () => {
      expect(await decode(compress(text), encoding)).toBe(text);
    });

    it('is read whatever it holds and however it was compressed', async () => {
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
      await expect(decode(compress('x'.repeat(limit + 1)), encoding)).rejects.toMatchObject({
        code: 'decompression_error',
        details: 'body is larger than 1000 bytes when decompressed',
      });
    });

    it.each([
      ['plain JSON', text],
      ['nothing', ''],
      ['base64 of something else', 'aGVsbG8='],
    ])('is refused when it is %s', async (_what, body) => {
      await expect(decode(Buffer.from(body), encoding)).rejects.toMatchObject({ code: 'decompression_error' });
    });
  });

  it('with another content-encoding is refused', async () => {
    await expect(decode(Buffer.from(text), 'br')).rejects.toMatchObject({
      code: 'decompression_error',
      details: 'property content-encoding must be utf8, gzip or deflate',
    });
  });

  it('that is no bytes is a validation failure', async () => {
    await expect(decode({ an: 'AMQP map' })).rejects.toMatchObject({ code: 'validation_error' });
  });
});

it('a V1 body is never decompressed', async () => {
  expect(await decode(Buffer.from(text), 'gzip', 'V1')).toBe(text);
});
