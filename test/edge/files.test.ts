import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobServiceClient } from '@azure/storage-blob';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addressFault } from '../../edge/src/files/address.ts';
import { ensureCertificates } from '../../sandbox/hub/certificates.ts';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import { createFileStorage } from '../../src/hub/methods/fileStorage.ts';
import { type FileServer, startFileServer } from './support/fileServer.ts';
import type { TestModule } from './support/module.ts';
import { busObject, type Call, type Site, type SiteOptions, startSite } from './support/site.ts';

// Inputs that are files, fetched from real servers into real folders (M12).

let site: Site;
let server: FileServer;
let press: TestModule;
const start = async (options: SiteOptions = {}) => {
  site = await startSite({ ...options, files: { hosts: [server.host], loopbackHttp: true, ...options.files } });
  press = await site.module('press');
};
beforeEach(async () => {
  server = await startFileServer();
});
afterEach(async () => {
  await site.close();
  await server.close();
});

type Signed = ReturnType<FileServer['signed']>;
const load = (image: Signed, more: Call = {}) =>
  site.call({ method: 'load', input: { image: 'acme/firmware.bin', name: 'firmware' }, files: { image }, ...more });
const inFolder = async () => (await readdir(site.files)).sort();

/** It fails, nothing is delivered, and nothing is left behind. */
async function expectRefusal(signed: Signed, status: number, sentence: RegExp, more: Call = {}) {
  const answered = await load(signed, more);
  expect(answered).toMatchObject({ status, reason: status === 502 ? 'failed_at_device' : 'unavailable_at_device' });
  expect(answered.payload.detail).toMatch(sentence);
  expect(await inFolder()).toEqual([]);
  expect(press.received).toEqual([]);
}

describe('a file', () => {
  it('is in the folder of the module before the invocation is, under a name of its own', async () => {
    await start({ folder: { mode: '0604' } });
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const calling = load(server.signed('a', content));
    const request = await press.next();
    const { image, name } = JSON.parse(request.text);
    expect(name).toBe('firmware');
    expect(image).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await inFolder()).toEqual([image]);
    expect(await readFile(join(site.files, image))).toEqual(content);
    expect((await lstat(join(site.files, image))).mode & 0o777).toBe(0o604);
    request.reply(0);
    expect((await calling).status).toBe(200);
    expect(await inFolder()).toEqual([image]); // it is the module's
    expect(site.lines.at(-1)).toMatchObject({ files: 1, fileBytes: 300_000 });
  });

  it('may be empty, and there may be several', async () => {
    await start();
    const files = { a: server.signed('a', ''), b: server.signed('b', 'bb') };
    const calling = site.call({ method: 'load', input: { a: 'a', b: 'b' }, files });
    const request = await press.next();
    const names = JSON.parse(request.text);
    expect(await readFile(join(site.files, names.a), 'utf8')).toBe('');
    expect(await readFile(join(site.files, names.b), 'utf8')).toBe('bb');
    request.reply(0);
    await calling;
  });

  it('that two calls want at once comes twice, each for itself', async () => {
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

  it('is not delivered when another one of the same call cannot be had', async () => {
    await start();
    const gone = { ...server.signed('b', 'b'), etag: '"other"' };
    const answered = await site.call({ input: { a: 'a', b: 'b' }, files: { a: server.signed('a', 'a'), b: gone } });
    expect(answered.status).toBe(502);
    expect(await inFolder()).toEqual([]);
  });

  it('comes from a storage account, with the signature of a front door', async () => {
    const azurite = await startAzurite();
    try {
      const { connectionString, port } = azurite;
      const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient('files');
      await container.create();
      await container.getBlockBlobClient('a/ü.bin').uploadData(Buffer.from('firmware'));
      const signer = createFileStorage({ connectionString, container: 'files', maxBytes: 100 });
      const answer = await signer.sign('a/ü.bin', 60, AbortSignal.timeout(10_000));
      if (answer.kind !== 'file') throw new Error(answer.kind);
      await start({ files: { hosts: [`127.0.0.1:${port}`] } });
      const calling = load(answer.file);
      const request = await press.next();
      expect(await readFile(join(site.files, JSON.parse(request.text).image), 'utf8')).toBe('firmware');
      request.reply(0);
      await calling;
      await container.getBlockBlobClient('a/ü.bin').uploadData(Buffer.from('FIRMWARE'));
      expect((await load(answer.file)).payload.detail).toMatch(/it was changed meanwhile/);
    } finally {
      await azurite.close();
    }
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
    ['by another protocol', (file) => ({ ...file, url: file.url.replace('http', 'ftp') }), /its address is not https/],
    [
      'from an address with a user',
      (file) => ({ ...file, url: file.url.replace('//', '//a:b@') }),
      /its address has a user/,
    ],
    ['from no address', (file) => ({ ...file, url: 'firmware.bin' }), /its address is none/],
    ['that is not there', (file) => ({ ...file, url: `${file.url}x` }), /status 404/],
    ['that was changed', (file) => ({ ...file, etag: '"0x99"' }), /it was changed meanwhile/],
    ['with another length', (file) => ({ ...file, bytes: 3 }), /it has another length/],
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
      'sends more than it says',
      (_, response) => response.writeHead(200, { etag: '"0x1"' }).end('x'.repeat(1_000_000)),
      /longer than it was/,
    ],
    ['sends less', (_, response) => response.writeHead(200, { etag: '"0x1"' }).end('x'), /shorter than it was/],
    [
      'breaks off',
      (_, response) =>
        response.writeHead(200, { etag: '"0x1"', 'content-length': 8 }).write('x', () => response.destroy()),
      /broke off/,
    ],
    [
      'does not say which version it sends',
      (_, response) => response.writeHead(200).end('firmware'),
      /changed meanwhile/,
    ],
    [
      'ignores the condition',
      (_, response) => response.writeHead(200, { etag: '"0x2"' }).end('firmware'),
      /changed meanwhile/,
    ],
    [
      'compresses',
      (_, response) => response.writeHead(200, { etag: '"0x1"', 'content-encoding': 'gzip' }).end('firmware'),
      /comes compressed/,
    ],
    ['fails', (_, response) => response.writeHead(503).end(), /status 503/],
    ['closes', (request) => request.socket.destroy(), /does not answer: ECONNRESET/],
  ])('when its host %s', async (_, behaviour, sentence) => {
    await start();
    const signed = server.signed('a', 'firmware');
    server.behave(behaviour);
    await expectRefusal(signed, 502, sentence);
    expect(server.requests).toBe(1);
  });

  it.each<[string, Parameters<FileServer['behave']>[0]]>([
    ['says nothing', () => {}],
    [
      'drips',
      (_, response) => {
        response.writeHead(200, { etag: '"0x1"' });
        const timer = setInterval(() => response.write('x'), 100);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('when its host %s: the call ends in time, and the connection with it', async (_, behaviour) => {
    await start();
    const signed = server.signed('a', 'x'.repeat(100_000));
    server.behave(behaviour);
    const began = performance.now();
    await expectRefusal(signed, 502, /it did not come in time/, { timeout: 5 });
    expect(performance.now() - began).toBeLessThan(4_900);
    await vi.waitFor(() => expect(server.open).toBe(0), { timeout: 5_000 });
  });

  it('when its host is down', async () => {
    await start();
    const signed = server.signed('a', 'firmware');
    await server.close();
    await expectRefusal(signed, 502, /does not answer: ECONNREFUSED/);
  });

  it('when the broker goes away while it comes', async () => {
    await start();
    const signed = server.signed('a', 'firmware');
    let finish = () => {};
    server.behave((_, response) => {
      finish = () => response.writeHead(200, { etag: signed.etag }).end('firmware');
    });
    const calling = load(signed);
    await vi.waitFor(() => expect(server.open).toBe(1), { timeout: 10_000 });
    await site.stopBroker();
    await vi.waitFor(async () => expect((await site.readyz()).status).toBe(503), { timeout: 10_000 });
    finish();
    expect(await calling).toMatchObject({ status: 503 });
    expect(await inFolder()).toEqual([]);
  });
});

describe('the folder of a module', () => {
  it('has a quota, to which all counts that the module has left lying', async () => {
    await start({ folder: { quotaBytes: 1_000 } });
    await expectRefusal(server.signed('large', 'x'.repeat(1_001)), 503, /no room/);
    const first = load(server.signed('a', 'x'.repeat(600)));
    const request = await press.next();
    const before = press.received.length;
    expect((await load(server.signed('b', 'x'.repeat(401)))).payload.detail).toMatch(/no room/);
    expect(press.received).toHaveLength(before);
    request.reply(0);
    await first;
    expect((await load(server.signed('c', 'x'.repeat(401)))).status).toBe(503); // it still lies there
    for (const name of await inFolder()) await rm(join(site.files, name));
    const again = load(server.signed('d', 'x'.repeat(1_000)));
    (await press.next()).reply(0);
    expect((await again).status).toBe(200);
  });

  it('has room that is promised to a download while it comes, and back when it fails', async () => {
    await start({ folder: { quotaBytes: 1_000 } });
    const signed = server.signed('a', 'x'.repeat(600));
    let fail = () => {};
    server.behave((_, response) => {
      fail = () => response.writeHead(500).end();
    });
    const first = load(signed);
    await vi.waitFor(() => expect(server.open).toBe(1), { timeout: 10_000 });
    expect((await load(signed)).payload.detail).toMatch(/no room/);
    fail();
    expect((await first).status).toBe(502);
    const again = load(signed);
    await vi.waitFor(() => expect(server.requests).toBe(2), { timeout: 10_000 });
    fail();
    expect((await again).status).toBe(502);
  });

  it('has at most so many files', async () => {
    await start({ folder: { mostFiles: 2 } });
    await writeFile(join(site.files, 'one'), '');
    await writeFile(join(site.files, 'two'), '');
    expect((await load(server.signed('a', 'a'))).payload.detail).toMatch(/no room/);
  });

  it('that is gone is 503, and said in the log without the address', async () => {
    await start();
    await rm(site.files, { recursive: true });
    await writeFile(site.files, '');
    const answered = await load(server.signed('a', 'a'));
    expect(answered).toMatchObject({ status: 503, payload: { detail: 'the folder of the module cannot be written' } });
    expect(site.lines.at(-1)).toMatchObject({ cause: 'ENOTDIR' });
    await rm(site.files);
    await mkdir(site.files);
  });

  it('is not there for a module that takes no files', async () => {
    await start();
    const answered = await load(server.signed('a', 'a'), { objectId: busObject });
    expect(answered).toMatchObject({ status: 503, payload: { detail: expect.stringMatching(/takes no files/) } });
    expect(server.requests).toBe(0);
  });
});

it('so many files come at once; the others wait, and not longer than their call', async () => {
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
  await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 10_000 });
  expect(await tooLate).toMatchObject({
    status: 502,
    payload: { detail: expect.stringMatching(/other downloads took all the time/) },
  });
  const served = (async () => {
    for (let index = 0; index < 4; index += 1) (await press.next()).reply(index);
  })();
  while (held.length > 0 || server.requests < 4) {
    held.shift()?.();
    await vi.waitFor(() => expect(held.length > 0 || server.requests === 4).toBe(true), { timeout: 10_000 });
  }
  await served;
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(most).toBe(2);
});

describe('over TLS', () => {
  it.each([true, false])('a file comes from a host whose certificate is trusted: %s', async (isTrusted) => {
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

  it('plain http is not taken from this machine either, unless it is switched on', () => {
    const allowed = { hosts: ['127.0.0.1:8000', 'a.net'], loopbackHttp: false };
    expect(addressFault('http://127.0.0.1:8000/x', allowed)).toMatch(/not https/);
    expect(addressFault('http://a.net/x', { ...allowed, loopbackHttp: true })).toMatch(/not https/);
    expect(addressFault('https://A.net/x', allowed)).toBeUndefined();
    expect(addressFault('https://a.net.evil.org/x', allowed)).toMatch(/not configured/);
    expect(addressFault('https://a.net@evil.org/x', allowed)).toMatch(/user/);
    expect(addressFault('https://a.net\\@evil.org/x', allowed)).toBeUndefined(); // it is a.net, and the path begins with @
  });
});
