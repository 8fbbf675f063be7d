import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BlobServiceClient } from '@azure/storage-blob';
import { afterEach, describe, expect, it } from 'vitest';
import { startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createFileStorage } from '../../src/stores/methodFiles.ts';
import { storageAccount } from '../support/storageAccount.ts';
import { type FileServer, startFileServer } from './support/fileServer.ts';
import { startTestEdge, type TestEdge, type TestEdgeOptions, type TestModule } from './support/testEdge.ts';

// Inputs that are files, fetched from real servers into real folders (M12); all that can fail is in fileInputs.test.ts.

let edge: TestEdge;
const server = startForEach(startFileServer);
let press: TestModule;
const start = async (options: TestEdgeOptions = {}) => {
  edge = await startTestEdge({ ...options, files: { hosts: [server.host], loopbackHttp: true, ...options.files } });
  press = await edge.module('press');
};
afterEach(() => edge.close());

type Signed = ReturnType<FileServer['signed']>;
const load = (image: Signed) =>
  edge.call({ method: 'load', input: { image: 'acme/firmware.bin', name: 'firmware' }, files: { image } });
const inFolder = async () => (await readdir(edge.files)).sort();

describe('a file', () => {
  it('is in the folder of the module before the invocation is delivered, under a generated name {S24.5 S24.7}', async () => {
    await start({ folder: { mode: '0604' } });
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const calling = load(server.signed('a', content));
    const request = await press.next();
    const { image, name } = JSON.parse(request.text);
    expect(name).toBe('firmware');
    expect(image).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await inFolder()).toEqual([image]);
    expect(await readFile(join(edge.files, image))).toEqual(content);
    expect((await lstat(join(edge.files, image))).mode & 0o777).toBe(0o604);
    request.reply(0);
    expect((await calling).status).toBe(200);
    expect(await inFolder()).toEqual([image]); // kept for the module
    expect(edge.lines.at(-1)).toMatchObject({ files: 1, fileBytes: 300_000 });
  });

  it('is downloaded from a storage account with the signature of a front door', async () => {
    const { connectionString, port } = await storageAccount();
    const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient('files');
    await container.create();
    await container.getBlockBlobClient('a/ü.bin').uploadData(Buffer.from('firmware'));
    const signer = createFileStorage({ account: connectionString, container: 'files', maxBytes: 100 });
    const signed = await signer.sign('a/ü.bin', 60, AbortSignal.timeout(10_000));
    if (signed.kind !== 'file') throw new Error(signed.kind);
    await start({ files: { hosts: [`127.0.0.1:${port}`] } });
    const calling = load(signed.file);
    const request = await press.next();
    expect(await readFile(join(edge.files, JSON.parse(request.text).image), 'utf8')).toBe('firmware');
    request.reply(0);
    await calling;
    await container.getBlockBlobClient('a/ü.bin').uploadData(Buffer.from('FIRMWARE'));
    expect((await load(signed.file)).payload.detail).toMatch(/it has changed since it was signed/);
  });
});
