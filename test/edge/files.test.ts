import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BlobServiceClient } from '@azure/storage-blob';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { urlProblem } from '../../edge/src/files/fileUrl.ts';
import { createModuleFolder } from '../../edge/src/files/moduleFolder.ts';
import { createFileStorage } from '../../src/hub/methods/fileStorage.ts';
import { storageAccount } from '../support/storageAccount.ts';
import { type FileServer, startFileServer } from './support/fileServer.ts';
import type { TestModule } from './support/module.ts';
import { busObject, type Call, startTestEdge, type TestEdge, type TestEdgeOptions } from './support/testEdge.ts';

// Inputs that are files, fetched from real servers into real folders (M12).

let edge: TestEdge;
let server: FileServer;
let press: TestModule;
const start = async (options: TestEdgeOptions = {}) => {
  edge = await startTestEdge({ ...options, files: { hosts: [server.host], loopbackHttp: true, ...options.files } });
  press = await edge.module('press');
};
beforeEach(async () => {
  server = await startFileServer();
});
afterEach(async () => {
  await edge.close();
  await server.close();
});

type Signed = ReturnType<FileServer['signed']>;
const load = (image: Signed, more: Call = {}) =>
  edge.call({ method: 'load', input: { image: 'acme/firmware.bin', name: 'firmware' }, files: { image }, ...more });
const inFolder = async () => (await readdir(edge.files)).sort();

/** It fails, nothing is delivered, and nothing is left behind. */
async function expectRefusal(signed: Signed, status: number, sentence: RegExp, more: Call = {}) {
  const answered = await load(signed, more);
  expect(answered).toMatchObject({ status, reason: status === 502 ? 'failed_at_device' : 'unavailable_at_device' });
  expect(answered.payload.detail).toMatch(sentence);
  expect(answered.payload.invoked).toBe('no');
  expect(await inFolder()).toEqual([]);
  expect(press.received).toEqual([]);
}

describe('a file', () => {
  it('is in the folder of the module before the invocation is delivered, under a generated name', async () => {
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

  it('may be empty, and there may be several', async () => {
    await start();
    const files = { a: server.signed('a', ''), b: server.signed('b', 'bb') };
    const calling = edge.call({ method: 'load', input: { a: 'a', b: 'b' }, files });
    const request = await press.next();
    const names = JSON.parse(request.text);
    expect(await readFile(join(edge.files, names.a), 'utf8')).toBe('');
    expect(await readFile(join(edge.files, names.b), 'utf8')).toBe('bb');
    request.reply(0);
    await calling;
  });

  it('of two calls at once is downloaded once for each', async () => {
    await start();
    const signed = server.signed('a', 'x'.repeat(100_000));
    const calls = [load(signed), load(signed)];
    const requests = [await press.next(), await press.next()];
    const names = requests.map(({ text }) => JSON.parse(text).image);
    expect(new Set(names).size).toBe(2);
    expect(await inFolder()).toEqual(names.toSorted());
    for (const request of requests) request.reply(0);
    await Promise.all(calls);
  });

  it('is not delivered when another file of the same call cannot be downloaded', async () => {
    await start();
    const gone = { ...server.signed('b', 'b'), etag: '"other"' };
    const answered = await edge.call({ input: { a: 'a', b: 'b' }, files: { a: server.signed('a', 'a'), b: gone } });
    expect(answered.status).toBe(502);
    expect(await inFolder()).toEqual([]);
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

describe('a file is not delivered', () => {
  it.each<[string, (signed: Signed) => Signed, RegExp]>([
    [
      'from a host that is not configured',
      (file) => ({ ...file, url: file.url.replace('127.0.0.1', 'localhost') }),
      /its host is not configured/,
    ],
    [
      'from a port that is not configured',
      (file) => ({ ...file, url: file.url.replace(/:\d+/, ':1') }),
      /its host is not configured/,
    ],
    ['by another protocol', (file) => ({ ...file, url: file.url.replace('http', 'ftp') }), /its URL is not https/],
    [
      'from a URL with credentials',
      (file) => ({ ...file, url: file.url.replace('//', '//a:b@') }),
      /its URL contains credentials/,
    ],
    ['from an invalid URL', (file) => ({ ...file, url: 'firmware.bin' }), /its URL is invalid/],
    ['that does not exist', (file) => ({ ...file, url: `${file.url}x` }), /status 404/],
    ['that has changed', (file) => ({ ...file, etag: '"0x99"' }), /it has changed since it was signed/],
    ['with another length', (file) => ({ ...file, bytes: 3 }), /its length differs/],
  ])('%s', async (_, change, sentence) => {
    await start();
    await expectRefusal(change(server.signed('a', 'firmware')), 502, sentence);
  });

  it.each<[string, Parameters<FileServer['behave']>[0], RegExp]>([
    [
      'redirects',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      /its host redirects/,
    ],
    [
      'sends more than the signed length',
      (_, response) => response.writeHead(200, { etag: '"0x1"' }).end('x'.repeat(1_000_000)),
      /longer than the signed length/,
    ],
    [
      'sends one byte more than the signed length',
      (_, response) => response.writeHead(200, { etag: '"0x1"' }).end('firmware!'),
      /longer than the signed length/,
    ],
    [
      'sends less than the signed length',
      (_, response) => response.writeHead(200, { etag: '"0x1"' }).end('x'),
      /shorter than the signed length/,
    ],
    [
      'closes the connection early',
      (_, response) =>
        response.writeHead(200, { etag: '"0x1"', 'content-length': 8 }).write('x', () => response.destroy()),
      /closed the connection/,
    ],
    ['sends no etag', (_, response) => response.writeHead(200).end('firmware'), /changed since it was signed/],
    [
      'ignores If-Match',
      (_, response) => response.writeHead(200, { etag: '"0x2"' }).end('firmware'),
      /changed since it was signed/,
    ],
    [
      'compresses the file',
      (_, response) => response.writeHead(200, { etag: '"0x1"', 'content-encoding': 'gzip' }).end('firmware'),
      /host compresses it/,
    ],
    ['responds with an error', (_, response) => response.writeHead(503).end(), /status 503/],
    ['closes the connection', (request) => request.socket.destroy(), /does not respond: ECONNRESET/],
  ])('when its host %s', async (_, behaviour, sentence) => {
    await start();
    const signed = server.signed('a', 'firmware');
    server.behave(behaviour);
    await expectRefusal(signed, 502, sentence);
    expect(server.requests).toBe(1);
  });

  it.each<[string, Parameters<FileServer['behave']>[0]]>([
    ['does not respond', () => {}],
    [
      'sends slowly',
      (_, response) => {
        response.writeHead(200, { etag: '"0x1"' });
        const timer = setInterval(() => response.write('x'), 100);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('when its host %s: the call and the connection end in time', async (_, behaviour) => {
    await start();
    const signed = server.signed('a', 'x'.repeat(100_000));
    server.behave(behaviour);
    await expectRefusal(signed, 502, /the download timed out/, { timeout: 5 });
    await expect.poll(() => server.open).toBe(0);
  });

  it('when its host is offline', async () => {
    await start();
    const signed = server.signed('a', 'firmware');
    await server.close();
    await expectRefusal(signed, 502, /does not respond: ECONNREFUSED/);
  });

  it('when the broker goes offline during the download', async () => {
    await start();
    const signed = server.signed('a', 'firmware');
    let finish = () => {};
    server.behave((_, response) => {
      finish = () => response.writeHead(200, { etag: signed.etag }).end('firmware');
    });
    const calling = load(signed);
    await expect.poll(() => server.open).toBe(1);
    await edge.stopBroker();
    await expect.poll(async () => (await edge.readyz()).status).toBe(503);
    finish();
    expect(await calling).toMatchObject({ status: 503 });
    expect(await inFolder()).toEqual([]);
  });
});

describe('the folder of a module', () => {
  it('has a quota, which includes files that the module has not removed', async () => {
    await start({ folder: { quotaBytes: 1_000 } });
    await expectRefusal(server.signed('large', 'x'.repeat(1_001)), 503, /do not fit the quota/);
    const first = load(server.signed('a', 'x'.repeat(600)));
    const request = await press.next();
    const before = press.received.length;
    expect((await load(server.signed('b', 'x'.repeat(401)))).payload.detail).toMatch(/do not fit the quota/);
    expect(press.received).toHaveLength(before);
    request.reply(0);
    await first;
    expect((await load(server.signed('c', 'x'.repeat(401)))).status).toBe(503); // the first file still counts
    for (const name of await inFolder()) await rm(join(edge.files, name));
    const again = load(server.signed('d', 'x'.repeat(1_000)));
    (await press.next()).reply(0);
    expect((await again).status).toBe(200);
  });

  it('reserves quota for a download while it runs and releases it when it fails', async () => {
    await start({ folder: { quotaBytes: 1_000 } });
    const signed = server.signed('a', 'x'.repeat(600));
    let fail = () => {};
    server.behave((_, response) => {
      fail = () => response.writeHead(500).end();
    });
    const first = load(signed);
    await expect.poll(() => server.open).toBe(1);
    expect((await load(signed)).payload.detail).toMatch(/do not fit the quota/);
    fail();
    expect((await first).status).toBe(502);
    const again = load(signed);
    await expect.poll(() => server.requests).toBe(2);
    fail();
    expect((await again).status).toBe(502);
  });

  it.each<[string, string]>([
    ['files in folders below', 'a/b/c'],
    ['files with the name of an unfinished download', '.incoming-of-the-module'],
    ['files in a folder with such a name', '.incoming-folder/a'],
  ])('has a quota, which includes %s', async (_, name) => {
    await start({ folder: { quotaBytes: 1_000 } });
    await mkdir(dirname(join(edge.files, name)), { recursive: true });
    await writeFile(join(edge.files, name), 'x'.repeat(600));
    expect((await load(server.signed('a', 'x'.repeat(401)))).payload.detail).toMatch(/do not fit the quota/);
    expect(server.requests).toBe(0);
    const fits = load(server.signed('b', 'x'.repeat(400)));
    (await press.next()).reply(0);
    expect((await fits).status).toBe(200);
  });

  it('has a maximum number of entries, those of folders below included', async () => {
    await start({ folder: { mostFiles: 3 } });
    await mkdir(join(edge.files, 'a', 'b'), { recursive: true });
    const fits = load(server.signed('a', 'a'));
    (await press.next()).reply(0);
    expect((await fits).status).toBe(200);
    expect((await load(server.signed('b', 'b'))).payload.detail).toMatch(/do not fit the quota/);
  });

  it('does not count what a link leads to', async () => {
    await start({ folder: { quotaBytes: 1_000, mostFiles: 2 } });
    await symlink(edge.folder, join(edge.files, 'link'));
    const fits = load(server.signed('a', 'a'.repeat(1_000)));
    (await press.next()).reply(0);
    expect((await fits).status).toBe(200);
  });

  it('does not count downloads in progress twice', async () => {
    await start({ folder: { quotaBytes: 1_000 } });
    const signed = server.signed('a', 'x'.repeat(400));
    let finish = () => {};
    server.behave((_, response) => {
      response.writeHead(200, { etag: signed.etag }).write('x'.repeat(399));
      finish = () => response.end('x');
    });
    const first = load(signed);
    await expect.poll(async () => (await inFolder()).length).toBe(1);
    await expect.poll(async () => (await lstat(join(edge.files, (await inFolder())[0] ?? ''))).size).toBe(399);
    const finishFirst = finish;
    const second = load(signed);
    await expect.poll(() => server.open).toBe(2);
    finishFirst();
    finish();
    for (let index = 0; index < 2; index += 1) (await press.next()).reply(0);
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });

  it('may have a folder with the name of an unfinished download at the start', async () => {
    const files = await mkdtemp(join(tmpdir(), 'files-'));
    try {
      await mkdir(join(files, '.incoming-folder'));
      await writeFile(join(files, '.incoming-folder', 'a'), '');
      await writeFile(join(files, '.incoming-left-over'), '');
      await start({ folder: { folder: files } });
      expect(edge.lines.filter(({ event }) => event === 'module.folder_unusable')).toEqual([]);
      expect(await readdir(files, { recursive: true })).toEqual(['.incoming-folder', '.incoming-folder/a']);
      const calling = load(server.signed('a', 'a'));
      (await press.next()).reply(0);
      expect((await calling).status).toBe(200);
    } finally {
      await rm(files, { recursive: true });
    }
  });

  it('has a maximum number of files', async () => {
    await start({ folder: { mostFiles: 2 } });
    await writeFile(join(edge.files, 'one'), '');
    await writeFile(join(edge.files, 'two'), '');
    expect((await load(server.signed('a', 'a'))).payload.detail).toMatch(/do not fit the quota/);
  });

  it('that cannot be written means 503 and a log line without the URL', async () => {
    await start();
    await rm(edge.files, { recursive: true });
    await writeFile(edge.files, '');
    const answered = await load(server.signed('a', 'a'));
    expect(answered).toMatchObject({ status: 503, payload: { detail: 'the folder of the module cannot be written' } });
    expect(edge.lines.at(-1)).toMatchObject({ cause: 'ENOTDIR' });
    await rm(edge.files);
    await mkdir(edge.files);
  });

  it('is missing for a module that takes no files', async () => {
    await start();
    const answered = await load(server.signed('a', 'a'), { objectId: busObject });
    const payload = { detail: expect.stringMatching(/takes no files/), invoked: 'no' };
    expect(answered).toMatchObject({ status: 400, reason: 'refused_by_device', payload });
    expect(server.requests).toBe(0);
  });
});

it('the folder of a module is refused where no folder can be made, and not tried for ever', async () => {
  const folder = createModuleFolder('/proc/nothing/files');
  await expect(folder.prepare()).rejects.toThrow('ENOENT');
});

it('downloads beyond the limit wait, but not longer than their call', async () => {
  await start({ files: { atOnce: 2 } });
  const signed = server.signed('a', 'a');
  let most = 0;
  const held: (() => void)[] = [];
  server.behave((_, response) => {
    most = Math.max(most, server.open);
    held.push(() => response.writeHead(200, { etag: signed.etag }).end('a'));
  });
  const calls = Array.from({ length: 4 }, () => load(signed));
  const tooLate = load(signed, { timeout: 5 });
  await expect.poll(() => held).toHaveLength(2);
  expect(await tooLate).toMatchObject({
    status: 502,
    payload: { detail: expect.stringMatching(/other downloads were in progress/) },
  });
  const served = (async () => {
    for (let index = 0; index < 4; index += 1) (await press.next()).reply(index);
  })();
  while (held.length > 0 || server.requests < 4) {
    held.shift()?.();
    await expect.poll(() => held.length > 0 || server.requests === 4).toBe(true);
  }
  await served;
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(most).toBe(2);
});

describe('over TLS', () => {
  it.each([true, false])('a file is downloaded from a host whose certificate is trusted: %s', async (isTrusted) => {
    const folder = await mkdtemp(join(tmpdir(), 'certificates-'));
    const { key, cert, caFile } = await ensureCertificates(folder);
    const secure = await startFileServer({ key, cert });
    try {
      await start({ files: { hosts: [secure.host], loopbackHttp: false, ...(isTrusted && { caFile }) } });
      const calling = load(secure.signed('a', 'a'));
      if (isTrusted) (await press.next()).reply(0);
      expect((await calling).status).toBe(isTrusted ? 200 : 502);
    } finally {
      await secure.close();
      await rm(folder, { recursive: true });
    }
  });

  it('plain http is allowed only from this machine, and only if configured', () => {
    const allowed = { hosts: ['127.0.0.1:8000', 'a.net'], loopbackHttp: false };
    expect(urlProblem('http://127.0.0.1:8000/x', allowed)).toMatch(/not https/);
    expect(urlProblem('http://a.net/x', { ...allowed, loopbackHttp: true })).toMatch(/not https/);
    expect(urlProblem('https://A.net/x', allowed)).toBeUndefined();
    expect(urlProblem('https://a.net.evil.org/x', allowed)).toMatch(/not configured/);
    expect(urlProblem('https://a.net@evil.org/x', allowed)).toMatch(/credentials/);
    expect(urlProblem('https://a.net\\@evil.org/x', allowed)).toBeUndefined(); // it is a.net, and the path begins with @
  });
});
