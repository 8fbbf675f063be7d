import { BlobServiceClient } from '@azure/storage-blob';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { accountKey } from '../../sandbox/methods/azurite.ts';
import type { Reason } from '../../src/protocol/vocabulary.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { expectFailure } from './support/expectFailure.ts';
import { type MethodDevice, methodDevice, succeed } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor, type TestFrontDoor } from './support/testFrontDoor.ts';

// Inputs that are files, with a real storage (M9); what else it may say is in fileInputs.test.ts.

const storage = storageForAll();
/** Looks percent-encoded, and is not decoded. */
const strange = 'sub/ü ?#%2e%2e%2f.bin';
let service: BlobServiceClient;
beforeAll(async () => {
  service = BlobServiceClient.fromConnectionString(storage.connectionString);
  for (const name of ['firmware', 'checkpoints']) await service.createContainer(name);
  const firmware = service.getContainerClient('firmware');
  for (const name of ['m-1.bin', strange, 'acme/m-1.bin', 'globex/m-1.bin'])
    await firmware.getBlockBlobClient(name).upload(name, Buffer.byteLength(name));
  await service.getContainerClient('checkpoints').getBlockBlobClient('x').upload('secret', 6);
});

let setup: TestFrontDoor;
let motor: MethodDevice;
const start = async (settings: Record<string, string> = {}) => {
  setup = await startTestFrontDoor({
    settings: {
      METHODS_FILES_CONNECTION_STRING: storage.connectionString,
      METHODS_FILES_CONTAINER: 'firmware',
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

  it.each(['m-1.bin', strange])('is sent to the device, signed for reading it only: %s {S23.5}', async (name) => {
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
    other.pathname = `${url.pathname.split('/').slice(0, 3).join('/')}/globex/m-1.bin`;
    expect((await fetch(other)).status).toBe(403);
    const headers = { 'x-ms-blob-type': 'BlockBlob' };
    expect((await fetch(url, { method: 'PUT', body: 'x', headers })).status).toBe(403);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
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

it('a storage that refuses the key is an error in the log, with its cause', async () => {
  const wrongKey = storage.connectionString.replace(accountKey, Buffer.from('wrong').toString('base64'));
  await start({ METHODS_FILES_CONNECTION_STRING: wrongKey });
  onTestFinished(stop);
  const isOut = /the file storage is unavailable; nothing was invoked/;
  const { cause } = await refused('m-1.bin', 503, 'storage_unavailable', isOut);
  expect(cause).toMatch(/^403/);
  const expected = { msg: 'the file storage is unavailable', cause, todo: expect.any(String) };
  expect(setup.lines.filter(({ level }) => level === 'error')).toMatchObject([expected]);
});
