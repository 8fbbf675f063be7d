import { BlobServiceClient } from '@azure/storage-blob';
import { beforeAll, expect, it } from 'vitest';
import { startForAll, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { accountKey } from '../../sandbox/methods/azurite.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor, type TestFrontDoor } from './support/testFrontDoor.ts';

// Inputs that are files, with a real storage (M9); what else it may say is in fileInputs.test.ts.

const storage = storageForAll();
/** Looks percent-encoded, and is not decoded. */
const strange = 'sub/ü ?#%2e%2e%2f.bin';
beforeAll(async () => {
  const firmware = BlobServiceClient.fromConnectionString(storage.connectionString).getContainerClient('firmware');
  await firmware.create();
  for (const name of ['m-1.bin', strange, 'globex/m-1.bin'])
    await firmware.getBlockBlobClient(name).upload(name, Buffer.byteLength(name));
});

const start = (account: string) =>
  startTestFrontDoor({
    settings: { METHODS_FILES_CONNECTION_STRING: account, METHODS_FILES_CONTAINER: 'firmware' },
  });
const load = (setup: TestFrontDoor, image: string) =>
  setup.call(conveyor, 'loadFirmware', { input: { image }, timeout: 5 });
const setup = startForAll(() => start(storage.connectionString));
const motor = startForAll(() => methodDevice(setup.hub, 'motor-1', succeed));

it.each(['m-1.bin', strange])('a file is sent to the device, signed for reading it only: %s {S23.5}', async (name) => {
  expect((await load(setup, name)).status).toBe(200);
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

it('a storage that refuses the key is an error in the log, with its cause', async () => {
  const wrongKey = storage.connectionString.replace(accountKey, Buffer.from('wrong').toString('base64'));
  const refused = await startForTest(start(wrongKey));
  const isOut = /the file storage is unavailable; nothing was invoked/;
  const called = await load(refused, 'm-1.bin');
  const { cause } = await expectFailure(refused, called, 503, 'storage_unavailable', isOut);
  expect(cause).toMatch(/^403/);
  const expected = { msg: 'the file storage is unavailable', cause, todo: expect.any(String) };
  expect(refused.lines.filter(({ level }) => level === 'error')).toMatchObject([expected]);
});
