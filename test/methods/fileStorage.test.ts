import { BlobClient, type BlobGetPropertiesResponse } from '@azure/storage-blob';
import { afterEach, expect, it, vi } from 'vitest';
import { createFileStorage } from '../../src/hub/methods/fileStorage.ts';

// What is signed for a device (M9).

afterEach(() => void vi.restoreAllMocks());

const key = Buffer.from('a key of this test').toString('base64');
const maxBytes = 1_000;

/** Signs a file of that size in a storage with that protocol. */
function sign(protocol: string, contentLength: number) {
  const properties = { contentLength, etag: '"1"' } as BlobGetPropertiesResponse;
  vi.spyOn(BlobClient.prototype, 'getProperties').mockResolvedValue(properties);
  const connectionString = `DefaultEndpointsProtocol=${protocol};AccountName=files;AccountKey=${key};BlobEndpoint=${protocol}://127.0.0.1:1/files`;
  const storage = createFileStorage({ account: connectionString, container: 'global', maxBytes });
  return storage.sign('firmware.bin', 60, new AbortController().signal);
}

it.each([
  ['https', 'https'],
  ['http', 'https,http'],
])('a signature of a storage with %s is good for %s', async (protocol, allowed) => {
  const result = await sign(protocol, 1);
  const { searchParams } = new URL(result.kind === 'file' ? result.file.url : '');
  expect([searchParams.get('spr'), searchParams.get('sp'), searchParams.get('sr')]).toEqual([allowed, 'r', 'b']);
});

it('a file may have exactly the largest size', async () => {
  expect(await sign('https', maxBytes)).toMatchObject({ kind: 'file', file: { bytes: maxBytes, etag: '"1"' } });
  expect(await sign('https', maxBytes + 1)).toEqual({ kind: 'too_large', bytes: maxBytes + 1 });
});
