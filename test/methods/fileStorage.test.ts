import { BlobClient, type BlobGetPropertiesResponse, BlobServiceClient } from '@azure/storage-blob';
import { afterEach, describe, expect, it, vi } from 'vitest';
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

describe('with an identity', () => {
  const hour = 3_600_000;
  const credential = { scope: 's', getToken: async () => ({ token: 't', expiresOnTimestamp: Date.now() + hour }) };

  it('one key of the account signs many files, and never for longer than it lasts (D368)', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const properties = { contentLength: 1, etag: '"1"' } as BlobGetPropertiesResponse;
    vi.spyOn(BlobClient.prototype, 'getProperties').mockResolvedValue(properties);
    const lent: Date[] = [];
    vi.spyOn(BlobServiceClient.prototype, 'getUserDelegationKey').mockImplementation((async (
      from: Date,
      until: Date,
    ) => {
      lent.push(until);
      const times = { signedStartsOn: from, signedExpiresOn: until };
      return { ...times, signedObjectId: 'oid', signedTenantId: 'tid', signedService: 'b', value: key };
    }) as never);
    const account = { url: 'https://files.example/', credential };
    const storage = createFileStorage({ account, container: 'global', maxBytes });
    const url = async (name: string, seconds: number) => {
      const result = await storage.sign(name, seconds, new AbortController().signal);
      return new URL(result.kind === 'file' ? result.file.url : '');
    };
    const first = await url('firmware.bin', 60);
    expect([first.pathname, first.searchParams.get('skoid'), first.searchParams.get('sp')]).toEqual([
      ...['/global/firmware.bin', 'oid', 'r'],
    ]);
    await url('other.bin', 300);
    expect(lent).toHaveLength(1);
    vi.setSystemTime(Date.now() + 6 * hour);
    const late = await url('late.bin', 300);
    expect(lent).toHaveLength(2);
    expect(Date.parse(late.searchParams.get('se') ?? '')).toBeLessThanOrEqual(Number(lent[1]));
    vi.useRealTimers();
  });
});
