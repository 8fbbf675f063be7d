import { BlobServiceClient } from '@azure/storage-blob';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accountKey, connectionStringTo } from '../../sandbox/methods/azurite.ts';
import type { Reason } from '../../src/protocol/vocabulary.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { expectFailure } from './support/expectFailure.ts';
import { type MethodDevice, methodDevice, succeed } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor, type TestFrontDoor } from './support/testFrontDoor.ts';

// Inputs that are files, with a real storage (M9).

const storage = storageForAll();
let service: BlobServiceClient;
beforeAll(async () => {
  service = BlobServiceClient.fromConnectionString(storage.connectionString);
  for (const name of ['firmware', 'checkpoints']) await service.createContainer(name);
  const firmware = service.getContainerClient('firmware');
  for (const name of ['m-1.bin', 'sub/ü ?#%.bin', 'acme/m-1.bin', 'globex/m-1.bin', 'large.bin']) {
    const content = name === 'large.bin' ? 'x'.repeat(1_001) : name;
    await firmware.getBlockBlobClient(name).upload(content, Buffer.byteLength(content));
  }
  await service.getContainerClient('checkpoints').getBlockBlobClient('x').upload('secret', 6);
});

let setup: TestFrontDoor;
let motor: MethodDevice;
const start = async (settings: Record<string, string> = {}) => {
  setup = await startTestFrontDoor({
    settings: {
      METHODS_FILES_CONNECTION_STRING: storage.connectionString,
      METHODS_FILES_CONTAINER: 'firmware',
      METHODS_FILES_MAX_BYTES: '1000',
      ...settings,
    },
  });
  motor = await methodDevice(setup.hub, 'motor-1', succeed);
};
const stop = async () => {
  await motor.close();
  await setup.close();
};
const load = (image: unknown) => setup.call(conveyor, 'loadFirmware', { input: { image }, timeout: 5 });
const refused = async (image: unknown, status: number, reason: Reason, sentence: RegExp) => {
  const before = motor.received.length;
  const line = await expectFailure(setup, await load(image), status, reason, sentence);
  expect(motor.received).toHaveLength(before);
  return line;
};

describe('a file', () => {
  beforeAll(() => start());
  afterAll(stop);

  it.each(['m-1.bin', 'sub/ü ?#%.bin'])(
    'is sent to the device, signed for reading it only: %s {S23.5}',
    async (name) => {
      expect((await load(name)).status).toBe(200);
      const { payload } = motor.received.at(-1) ?? {};
      expect(payload?.input).toEqual({ image: name });
      const file = payload?.files?.['image'];
      expect(file).toEqual({
        url: expect.any(String),
        bytes: Buffer.byteLength(name),
        etag: expect.stringMatching(/./),
      });
      const url = new URL(file?.url ?? '');
      const fetched = await fetch(url);
      expect([await fetched.text(), fetched.headers.get('etag')]).toEqual([name, file?.etag]);

      const seconds = (Date.parse(url.searchParams.get('se') ?? '') - Date.now()) / 1000;
      expect(seconds).toBeGreaterThan(5);
      expect(seconds).toBeLessThan(120);
      expect([url.searchParams.get('sp'), url.searchParams.get('sr')]).toEqual(['r', 'b']);
      const other = new URL(url);
      other.pathname = `${url.pathname.split('/').slice(0, 3).join('/')}/large.bin`;
      expect((await fetch(other)).status).toBe(403);
      const headers = { 'x-ms-blob-type': 'BlockBlob' };
      expect((await fetch(url, { method: 'PUT', body: 'x', headers })).status).toBe(403);
      expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
    },
  );

  it('is not signed when no input is a file', async () => {
    expect((await setup.call(conveyor, 'configure', { input: { rpm: 1 } })).status).toBe(200);
    expect(motor.received.at(-1)?.payload).not.toHaveProperty('files');
  });

  it('that does not exist {S23.5}', () =>
    refused('m-2.bin', 400, 'file_not_found', /the file of input "image" does not exist; upload it first/));

  it('that is too large', () =>
    refused('large.bin', 400, 'file_too_large', /input "image" has 1001 bytes, at most 1000 are allowed/));

  it.each(['../checkpoints/x', 'sub/../../checkpoints/x', 7])('must have a valid name: %j {S23.5}', async (name) => {
    await refused(name, 400, 'invalid_request', /^input "image" must be a file name/);
  });

  it('may have a name that looks percent-encoded, which is not decoded', async () => {
    await refused('%2e%2e/checkpoints/x', 400, 'file_not_found', /does not exist/);
    await refused('..%2fcheckpoints%2fx', 400, 'file_not_found', /does not exist/);
  });
});

describe('the folder of the caller’s tenant', () => {
  beforeAll(() => start({ METHODS_FILES_TENANT_CLAIM: 'tenant' }));
  afterAll(stop);

  it('is the prefix of its file names', async () => {
    expect((await load('m-1.bin')).status).toBe(200);
    const { url = '' } = motor.received.at(-1)?.payload.files?.['image'] ?? {};
    expect(await (await fetch(url)).text()).toBe('acme/m-1.bin');
    await refused('../globex/m-1.bin', 400, 'invalid_request', /must be a file name/);
    await refused('globex/m-1.bin', 400, 'file_not_found', /upload it first/);
  });
});

describe('the storage', () => {
  afterEach(stop);

  const wrongKey = () => storage.connectionString.replace(accountKey, Buffer.from('wrong').toString('base64'));
  const isOut = /the file storage is unavailable; nothing was invoked/;

  it.each<[what: string, settings: () => Record<string, string>, sentence: RegExp, cause: RegExp | undefined]>([
    ['is offline', () => ({ METHODS_FILES_CONNECTION_STRING: connectionStringTo(1) }), isOut, /\w/],
    ['refuses the key', () => ({ METHODS_FILES_CONNECTION_STRING: wrongKey() }), isOut, /^403/],
    ['has no such container', () => ({ METHODS_FILES_CONTAINER: 'nothing' }), isOut, /\w/],
    [
      'is not configured',
      () => ({ METHODS_FILES_CONTAINER: '', METHODS_FILES_CONNECTION_STRING: '' }),
      ...([/no file storage is configured/, undefined] as const),
    ],
  ])('%s', async (_, settings, sentence, cause) => {
    await start(settings());
    const line = await refused('m-1.bin', 503, 'storage_unavailable', sentence);
    const errors = setup.lines.filter(({ level }) => level === 'error');
    if (cause === undefined) return expect(errors).toEqual([]);
    expect(line['cause']).toMatch(cause);
    const expected = { msg: 'the file storage is unavailable', cause: line['cause'], todo: expect.any(String) };
    expect(errors).toMatchObject([expected]);
  });

  it('requires a claim that the token does not have', async () => {
    await start({ METHODS_FILES_TENANT_CLAIM: 'department' });
    await refused('m-1.bin', 403, 'forbidden', /no valid claim for the folder/);
  });
});
