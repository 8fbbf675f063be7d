import { BlobClient, type BlobGetPropertiesResponse, BlobServiceClient } from '@azure/storage-blob';
import { describe, expect, it, vi } from 'vitest';
import type { Secret } from '../../src/access/secretFiles.ts';
import { StorageError } from '../../src/stores/account.ts';
import { createFileStorage } from '../../src/stores/methodFiles.ts';
import { rotatingSecret } from '../support/secretVolume.ts';

// What is signed for a device (M9).

const key = Buffer.from('a key of this test').toString('base64');
const connectionOf = (accountKey: string, protocol = 'https') =>
  `DefaultEndpointsProtocol=${protocol};AccountName=files;AccountKey=${accountKey};BlobEndpoint=${protocol}://127.0.0.1:1/files`;
const maxBytes = 1_000;
const never = new AbortController().signal;
const found = { contentLength: 1, etag: '"1"' };
const failure = (statusCode?: number, code?: string, errorCode?: string) =>
  Object.assign(new RangeError('not told'), { statusCode, code, ...(errorCode && { details: { errorCode } }) });

/** A storage, and the names of its look-ups. The answers for a name are given in their order; after them the file is found. */
function storageWhere(answers: Readonly<Record<string, readonly object[]>>, account: Secret = connectionOf(key)) {
  const asked: string[] = [];
  const left = Object.fromEntries(Object.entries(answers).map(([name, list]) => [name, [...list]]));
  vi.spyOn(BlobClient.prototype, 'getProperties').mockImplementation(async function (this: BlobClient) {
    asked.push(this.name);
    const next = left[this.name]?.shift() ?? found;
    if (next instanceof Error) throw next;
    return next as BlobGetPropertiesResponse;
  });
  const storage = createFileStorage({ account, container: 'global', maxBytes });
  return { asked, sign: (name: string, signal = never) => storage.sign(name, 60, signal) };
}
const unavailable = (status: number | undefined, code: string) => ({
  kind: 'unavailable',
  error: new StorageError('looking up a file', status, code),
});

it.each([
  ['https', 'https'],
  ['http', 'https,http'],
])(
  'a signature of a storage with %s is good for %s, and for the seconds that are asked for',
  async (protocol, allowed) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-02T03:04:05Z') });
    const result = await storageWhere({}, connectionOf(key, protocol)).sign('a');
    const { searchParams } = new URL(result.kind === 'file' ? result.file.url : '');
    const said = ['spr', 'sp', 'sr', 'se'].map((name) => searchParams.get(name));
    expect(said).toEqual([allowed, 'r', 'b', '2026-01-02T03:05:05Z']);
  },
);

it('a file may have exactly the largest size', async () => {
  const { sign } = storageWhere({ a: [maxBytes, maxBytes + 1].map((contentLength) => ({ ...found, contentLength })) });
  expect(await sign('a')).toMatchObject({ kind: 'file', file: { bytes: maxBytes, etag: '"1"' } });
  expect(await sign('a')).toEqual({ kind: 'too_large', bytes: maxBytes + 1 });
});

describe('a file is looked up', () => {
  it('again only after a pause, which virtual time shows', async () => {
    vi.useFakeTimers();
    const { sign, asked } = storageWhere({ a: [failure(503, 'ServerBusy')] });
    const signed = sign('a');
    await vi.advanceTimersByTimeAsync(199);
    expect(asked).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(1);
    expect([asked, (await signed).kind]).toEqual([['a', 'a'], 'file']);
  });

  it('no third time', async () => {
    const { sign, asked } = storageWhere({ a: [failure(503, 'ServerBusy'), failure(500, 'InternalError')] });
    expect(await sign('a')).toEqual(unavailable(500, 'InternalError'));
    expect(asked).toEqual(['a', 'a']);
  });

  it('once when the caller has gone', async () => {
    const gone = new AbortController();
    const { sign, asked } = storageWhere({ a: [failure(503, 'ServerBusy')] });
    const signed = sign('a', gone.signal);
    gone.abort();
    expect(await signed).toEqual(unavailable(503, 'ServerBusy'));
    expect(asked).toEqual(['a']);
  });

  it.each<[what: string, answer: object, result: object]>([
    ['a refused key', failure(403, 'AuthenticationFailed'), unavailable(403, 'AuthenticationFailed')],
    ['a failure that only its header names', failure(409, undefined, 'Gone'), unavailable(409, 'Gone')],
    ['a failure without a code', failure(400), unavailable(400, 'RangeError')],
    ['a file that does not exist', failure(404, 'BlobNotFound'), { kind: 'missing' }],
    ['a file that does not exist, without a code', failure(404), { kind: 'missing' }],
    ['a missing container', failure(404, 'ContainerNotFound'), unavailable(404, 'ContainerNotFound')],
    ['one only its header names', failure(404, undefined, 'ContainerNotFound'), unavailable(404, 'ContainerNotFound')],
    ['no length', { ...found, contentLength: undefined }, unavailable(undefined, 'no length or no etag')],
    ['no etag', { ...found, etag: undefined }, unavailable(undefined, 'no length or no etag')],
  ])('once, which tells of %s', async (_, answer, result) => {
    const { sign, asked } = storageWhere({ a: [answer] });
    expect([await sign('a'), asked]).toEqual([result, ['a']]);
  });

  it.each(['sub/../a', '../other/a', '../global2/../global/a'])('never by another name than %s', async (name) => {
    const { sign, asked } = storageWhere({});
    expect([await sign(name), asked]).toEqual([{ kind: 'changed_name' }, []]);
  });

  it('as long as the caller waits, and for four seconds at most', async () => {
    const limits: number[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const late = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms);
      return late.signal;
    });
    vi.spyOn(BlobClient.prototype, 'getProperties').mockImplementation(async (options) => {
      signals.push(options?.abortSignal as AbortSignal | undefined);
      return found as BlobGetPropertiesResponse;
    });
    const storage = createFileStorage({ account: connectionOf(key), container: 'global', maxBytes });
    const caller = new AbortController();
    for (const signal of [caller.signal, never]) await storage.sign('a', 60, signal);
    const areAborted = () => signals.map((signal) => signal?.aborted);
    expect([limits, areAborted()]).toEqual([
      [4_000, 4_000],
      [false, false],
    ]);
    caller.abort();
    expect(areAborted()).toEqual([true, false]);
    late.abort();
    expect(areAborted()).toEqual([true, true]);
  });
});

it('a file is looked up and signed with the next key after a refusal of one that is replaced (D397)', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const next = connectionOf(Buffer.from('another key of this test').toString('base64'));
  const { sign, asked } = storageWhere({ a: [failure(403)] }, rotatingSecret(connectionOf(key), next).secret);
  const signed = await sign('a');
  expect(asked).toEqual(['a', 'a']);
  expect(signed).toEqual(await storageWhere({}, next).sign('a'));
  expect(signed).not.toEqual(await storageWhere({}).sign('a'));
});

describe('with an identity', () => {
  const hour = 3_600_000;
  const credential = { scope: 's', getToken: async () => ({ token: 't', expiresOnTimestamp: Date.now() + hour }) };

  it('one key of the account signs many files, and never for longer than it lasts (D368)', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const properties = { contentLength: 1, etag: '"1"' } as BlobGetPropertiesResponse;
    vi.spyOn(BlobClient.prototype, 'getProperties').mockResolvedValue(properties);
    const lent: Date[] = [];
    const asked: { readonly from: Date; readonly signal: AbortSignal | undefined }[] = [];
    vi.spyOn(BlobServiceClient.prototype, 'getUserDelegationKey').mockImplementation((async (
      from: Date,
      until: Date,
      options?: { readonly abortSignal?: AbortSignal },
    ) => {
      asked.push({ from, signal: options?.abortSignal });
      lent.push(until);
      const times = { signedStartsOn: from, signedExpiresOn: until };
      return { ...times, signedObjectId: 'oid', signedTenantId: 'tid', signedService: 'b', value: key };
    }) as never);
    const account = { url: 'https://files.example//', credential };
    const caller = new AbortController();
    const limits = vi.spyOn(AbortSignal, 'timeout');
    const storage = createFileStorage({ account, container: 'global', maxBytes });
    const url = async (name: string, seconds: number) => {
      const result = await storage.sign(name, seconds, caller.signal);
      return new URL(result.kind === 'file' ? result.file.url : '');
    };
    const first = await url('firmware.bin', 60);
    expect([first.pathname, first.searchParams.get('skoid'), first.searchParams.get('sp')]).toEqual([
      ...['/global/firmware.bin', 'oid', 'r'],
    ]);
    const [{ from, signal } = {}] = asked;
    expect([Number(from), signal?.aborted]).toEqual([Date.now() - 5 * 60_000, false]);
    expect(limits.mock.calls).toEqual([[4_000], [4_000]]); // of the look-up, and of the key
    await url('other.bin', 300);
    expect(lent).toHaveLength(1);
    vi.setSystemTime(Date.now() + 6 * hour);
    const late = await url('late.bin', 300);
    expect(lent).toHaveLength(2);
    expect(Date.parse(late.searchParams.get('se') ?? '')).toBeLessThanOrEqual(Number(lent[1]));
    caller.abort();
    expect(signal?.aborted).toBe(true);
  });
});
