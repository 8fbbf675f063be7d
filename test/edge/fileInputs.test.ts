import { lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import { dirname, join } from 'node:path';
import { useProxies } from '@device-messaging/telemetry/outbound.ts';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFileInputs, createSemaphore, type FileInputs, urlProblem } from '../../edge/src/files/fileInputs.ts';
import { createModuleFolder } from '../../edge/src/files/moduleFolder.ts';
import { createMeter } from '../../edge/src/observing/metrics.ts';
import { folderForEach, startForEach, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startConnectProxy } from '../support/connectProxy.ts';
import { type FileServer, startFileServer } from './support/fileServer.ts';
import { modules, seriesOf } from './support/testProxy.ts';

// Inputs that are files, fetched from real servers into real folders (M12).

const folder = folderForEach('files');
const server = startForEach(startFileServer);
let inputs: FileInputs;
let meter: ReturnType<typeof createMeter>;

function start(change: object = {}, settings: object = {}) {
  const own = { folder, quotaBytes: 1_000_000, mostFiles: 1000, mode: '0604' };
  meter = createMeter();
  const [press, bus] = modules as [(typeof modules)[0], (typeof modules)[0]];
  const files = { hosts: [server.host], atOnce: 4, loopbackHttp: true, ...settings };
  inputs = createFileInputs({ modules: [{ ...press, files: { ...own, ...change } }, bus], files }, meter, new Map());
}

type Signed = ReturnType<FileServer['signed']>;
type Behaviour = Parameters<FileServer['behave']>[0];
const load = (given: Readonly<Record<string, Signed>>, signal = new AbortController().signal, module = 'press') =>
  inputs.download(module, new Map(Object.entries(given)), signal);
async function loaded(given: Readonly<Record<string, Signed>>) {
  const result = await load(given);
  if (result.kind !== 'files') throw new Error(result.detail);
  return result.files;
}
/** What the host does: it sends this content, by default with the etag that was signed. */
const sends =
  (content: string, headers: OutgoingHttpHeaders = { etag: '"0x1"' }, status = 200): Behaviour =>
  (_, response) =>
    response.writeHead(status, headers).end(content);
const inFolder = async () => (await readdir(folder)).sort();
const failed = (reason: string) => ({
  kind: 'failed',
  detail: expect.stringContaining(`a file could not be downloaded, and nothing was delivered: ${reason}`),
});
const tooMuch = { kind: 'unavailable', detail: 'the files do not fit the quota of the module’s folder' };
/** Status and reason of each download. */
const recorded = () =>
  seriesOf(meter, 'http.client.request.duration').flatMap((one) => Array.from({ length: one.count }, () => one.values));

/** Of the folder, in this process, as far as the operating system tells. */
async function openFiles() {
  const all = await readdir('/proc/self/fd').catch(() => []);
  const paths = await Promise.all(all.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(folder));
}

describe('a file', () => {
  it('is in the folder of the module with its mode, under a generated name {S24.7}', async () => {
    start();
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const { names, keep } = await loaded({ image: server.signed('a', content) });
    const { image = '' } = names;
    expect(image).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await inFolder()).toEqual([image]);
    expect(await readFile(join(folder, image))).toEqual(content);
    expect((await lstat(join(folder, image))).mode & 0o777).toBe(0o604);
    keep();
    expect([await inFolder(), recorded()]).toEqual([[image], [['200', '']]]);
    expect(await openFiles()).toEqual([]);
  });

  it('may be empty, there may be several, and they are removed when they are not delivered', async () => {
    start();
    const { names, discard } = await loaded({ a: server.signed('a', ''), b: server.signed('b', 'bb') });
    expect(await readFile(join(folder, names['a'] ?? ''), 'utf8')).toBe('');
    expect(await readFile(join(folder, names['b'] ?? ''), 'utf8')).toBe('bb');
    await discard();
    expect(await inFolder()).toEqual([]);
  });

  it('of two invocations at once is downloaded once for each', async () => {
    start();
    const image = server.signed('a', 'x'.repeat(100_000));
    const both = await Promise.all([loaded({ image }), loaded({ image })]);
    const names = both.map((one) => one.names['image'] ?? '');
    expect(new Set(names).size).toBe(2);
    expect(await inFolder()).toEqual(names.toSorted());
  });

  it('is removed when another file of the same invocation cannot be downloaded {S24.5}', async () => {
    start();
    const gone = { ...server.signed('b', 'b'), etag: '"other"' };
    expect(await load({ a: server.signed('a', 'a'), b: gone })).toEqual(failed('it has changed since it was signed'));
    expect([await inFolder(), recorded().flat()]).toEqual([[], ['200', '', '412', 'changed']]);
  });

  it('may have an etag without quotes, at the host or where it was signed', async () => {
    start();
    const signed = server.signed('a', 'a');
    server.behave(sends('a', { etag: '0x1' }));
    await loaded({ a: signed });
    server.behave(sends('a'));
    await loaded({ a: { ...signed, etag: '0x1' } });
  });

  it('is asked for with its etag, without compression, on a connection of its own', async () => {
    start();
    let asked: object = {};
    server.behave((request, response) => {
      asked = request.headers;
      response.writeHead(200, { etag: '"0x1"', 'content-encoding': 'identity' }).end('a');
    });
    await loaded({ a: server.signed('a', 'a') });
    expect(asked).toMatchObject({ 'if-match': '"0x1"', 'accept-encoding': 'identity', connection: 'close' });
    await expect.poll(() => server.open).toBe(0);
  });
});

describe('a file is not downloaded', () => {
  const compressing: Behaviour = (_, to) => to.writeHead(200, { etag: '"0x1"', 'content-encoding': 'gzip' }).write('f');
  const endingEarly: Behaviour = (_, response) =>
    response.writeHead(200, { etag: '"0x1"', 'content-length': 8 }).write('x', () => response.destroy());
  const closing: Behaviour = (request) => request.socket.destroy();

  it.each<[reason: string, string | RegExp, string]>([
    ['its host is not configured', '127.0.0.1', 'localhost'],
    ['its host is not configured', /:\d+/, ':1'],
    ['its URL is not https', 'http', 'ftp'],
    ['its URL contains credentials', '//', '//a:b@'],
    ['its URL is invalid', /.*/, 'firmware.bin'],
  ])('whose URL is refused, and its host is not asked: %s, with %s changed to %s', async (reason, part, by) => {
    start();
    const file = server.signed('a', 'firmware');
    expect(await load({ a: { ...file, url: file.url.replace(part, by) } })).toEqual(failed(reason));
    expect([await inFolder(), server.requests, recorded()]).toEqual([[], 0, []]);
  });

  it.each<[string, (signed: Signed) => object, string, string, string]>([
    ['that does not exist', ({ url }) => ({ url: `${url}x` }), 'its host responds with status 404', '404', 'status'],
    ['that has changed', () => ({ etag: '"0x99"' }), 'it has changed since', '412', 'changed'],
    ['with another length', () => ({ bytes: 3 }), 'its length differs from', '200', 'changed'],
  ])('%s', async (_, change, reason, status, fault) => {
    start();
    const signed = server.signed('a', 'firmware');
    expect(await load({ a: { ...signed, ...change(signed) } })).toEqual(failed(reason));
    expect([await inFolder(), recorded()]).toEqual([[], [[status, fault]]]);
  });

  it.each<[string, Behaviour, string, string, string]>([
    ['redirects', sends('', { location: 'http://127.0.0.1:1/' }, 302), 'its host redirects', '302', 'status'],
    ['begins to redirect', sends('', {}, 300), 'its host redirects', '300', 'status'],
    ['refuses', sends('', {}, 400), 'its host responds with status 400', '400', 'status'],
    ['sends no content', sends('', {}, 204), 'its host responds', '204', 'status'],
    ['responds with an error', sends('', {}, 503), 'its host responds with status 503', '503', 'status'],
    ['sends far too much', sends('x'.repeat(1_000_000)), 'it is longer than the signed length', '200', 'changed'],
    ['sends one byte too many', sends('firmware!'), 'it is longer than the signed length', '200', 'changed'],
    ['sends too little', sends('x'), 'it is shorter than the signed length', '200', 'changed'],
    ['sends no etag', sends('firmware', {}), 'it has changed since', '200', 'changed'],
    ['ignores If-Match', sends('firmware', { etag: '"0x2"' }), 'it has changed since it was signed', '200', 'changed'],
    ['compresses the file', compressing, 'its host compresses it', '200', 'unexpected'],
    ['ends the response early', endingEarly, 'its host closed the connection', '200', 'connection_lost'],
    ['closes the connection', closing, 'its host does not respond: ECONNRESET', '', 'no_connection'],
  ])('when its host %s', async (_, behaviour, reason, status, fault) => {
    start();
    const signed = server.signed('a', 'firmware');
    server.behave(behaviour);
    expect(await load({ a: signed })).toEqual(failed(reason));
    expect([await inFolder(), recorded(), server.requests]).toEqual([[], [[status, fault]], 1]);
    await expect.poll(() => server.open).toBe(0);
  });

  it.each<[string, Behaviour, string]>([
    ['has not responded', () => {}, ''],
    ['has sent a part', (_, response) => response.writeHead(200, { etag: '"0x1"' }).write('x'), '200'],
  ])('when the time is over and its host %s: the connection ends, too', async (_, behaviour, status) => {
    start();
    const signed = server.signed('a', 'x'.repeat(100_000));
    server.behave(behaviour);
    const end = new AbortController();
    const loading = load({ a: signed }, end.signal);
    const begun = async () => (status === '' ? server.open === 1 : (await inFolder()).length === 1);
    await expect.poll(begun).toBe(true);
    end.abort();
    expect(await loading).toEqual(failed('the download timed out'));
    await expect.poll(() => server.open).toBe(0);
    expect([await inFolder(), recorded()]).toEqual([[], [[status, 'timeout']]]);
  });

  it('when the time was over before', async () => {
    start();
    expect(await load({ a: server.signed('a', 'a') }, AbortSignal.abort())).toEqual(failed('the download timed out'));
    expect(server.requests).toBe(0);
  });

  it('when its host is offline', async () => {
    start();
    const signed = server.signed('a', 'firmware');
    await server.close();
    expect(await load({ a: signed })).toEqual(failed('its host does not respond: ECONNREFUSED'));
  });

  it('for a module without a folder', async () => {
    start();
    const given = { a: server.signed('a', 'a') };
    const detail = 'the module takes no files: no folder is configured for it';
    expect(await load(given, undefined, 'bus')).toEqual({ kind: 'refused', detail });
    expect(server.requests).toBe(0);
  });
});

describe('the folder of a module', () => {
  const of = (bytes: number) => ({ a: server.signed('a', 'x'.repeat(bytes)) });

  it('has a quota, which includes files that the module has not removed {S24.6}', async () => {
    start({ quotaBytes: 1_000 });
    expect(await load(of(1_001))).toEqual(tooMuch);
    const { keep } = await loaded(of(600));
    expect(await load(of(401))).toEqual(tooMuch);
    keep();
    expect(await load(of(401))).toEqual(tooMuch);
    const { discard } = await loaded(of(400));
    await discard();
    for (const name of await inFolder()) await rm(join(folder, name));
    await loaded(of(1_000));
  });

  it('counts all files of an invocation', async () => {
    start({ quotaBytes: 1_000, mostFiles: 2 });
    const one = server.signed('a', 'x'.repeat(400));
    expect(await load({ a: one, b: one, c: server.signed('c', '') })).toEqual(tooMuch);
    expect(await load({ a: one, b: server.signed('b', 'x'.repeat(601)) })).toEqual(tooMuch);
    await loaded({ a: one, b: server.signed('b', 'x'.repeat(600)) });
  });

  it.each<[string, object, number]>([
    ['quota', { quotaBytes: 1_000 }, 600],
    ['files', { mostFiles: 1 }, 1],
  ])('reserves %s for a download while it runs, and releases it when it fails', async (_, change, bytes) => {
    start(change);
    const signed = of(bytes);
    let fail = () => {};
    server.behave((_request, response) => {
      fail = () => response.writeHead(500).end();
    });
    for (let time = 1; time <= 2; time += 1) {
      const first = load(signed);
      await expect.poll(() => server.open).toBe(1);
      expect(await load(signed)).toEqual(tooMuch);
      expect(server.requests).toBe(time);
      fail();
      expect(await first).toEqual(failed('its host responds with status 500'));
      await expect.poll(() => server.open).toBe(0);
    }
  });

  it.each<[string, string]>([
    ['files in folders below', 'a/b/c'],
    ['files with the name of an unfinished download', '.incoming-of-the-module'],
    ['files in a folder with such a name', '.incoming-folder/a'],
  ])('has a quota, which includes %s', async (_, name) => {
    start({ quotaBytes: 1_000 });
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), 'x'.repeat(600));
    expect([await load(of(401)), server.requests]).toEqual([tooMuch, 0]);
    await loaded(of(400));
  });

  it('has a maximum number of entries, those of folders below included', async () => {
    start({ mostFiles: 3 });
    await mkdir(join(folder, 'a', 'b'), { recursive: true });
    const { keep } = await loaded(of(1));
    keep();
    expect(await load(of(1))).toEqual(tooMuch);
  });

  it('does not count what a link leads to', async () => {
    start({ quotaBytes: 1_000, mostFiles: 2 });
    await symlink(dirname(folder), join(folder, 'link'));
    await loaded(of(1_000));
  });

  it('does not count downloads in progress twice', async () => {
    start({ quotaBytes: 1_000 });
    const signed = of(400);
    let finish = () => {};
    server.behave((_, response) => {
      response.writeHead(200, { etag: '"0x1"' }).write('x'.repeat(399));
      finish = () => response.end('x');
    });
    const first = load(signed);
    await expect.poll(async () => (await inFolder()).length).toBe(1);
    await expect.poll(async () => (await lstat(join(folder, (await inFolder())[0] ?? ''))).size).toBe(399);
    const finishFirst = finish;
    const second = load(signed);
    await expect.poll(() => server.open).toBe(2);
    finishFirst();
    finish();
    expect([(await first).kind, (await second).kind]).toEqual(['files', 'files']);
  });

  it('counts once what is left to the module while it looks for room', async () => {
    const { reserve } = createModuleFolder(folder);
    const quota = { quotaBytes: 1_000, mostFiles: 10 };
    const first = await reserve(quota, 600, 1);
    const path = first?.temporaryPath() ?? '';
    await writeFile(path, 'x'.repeat(600));
    await first?.finish(path);
    const second = reserve(quota, 400, 1);
    for (let step = 0; step < 5; step += 1) await Promise.resolve(); // it has begun to look
    first?.release();
    expect(await second).toBeDefined();
  });

  it('is made at the start, with those above it, and leftovers of unfinished downloads are removed', async () => {
    const path = join(folder, 'a', 'b');
    start({ folder: path });
    expect(await inputs.prepare()).toEqual([]);
    await mkdir(join(path, '.incoming-folder'));
    await writeFile(join(path, '.incoming-folder', 'a'), '');
    await writeFile(join(path, '.incoming-left-over'), '');
    await writeFile(join(path, 'of-the-module.incoming-'), '');
    expect(await inputs.prepare()).toEqual([]);
    const kept = ['.incoming-folder', '.incoming-folder/a', 'of-the-module.incoming-'];
    expect((await readdir(path, { recursive: true })).sort()).toEqual(kept);
  });

  it('that cannot be used is named with the cause', async () => {
    start({ folder: join(folder, 'file') });
    await writeFile(join(folder, 'file'), '');
    expect(await inputs.prepare()).toEqual([{ moduleId: 'press', cause: 'EEXIST' }]);
    const detail = 'the folder of the module cannot be written';
    expect(await load(of(1))).toEqual({ kind: 'unavailable', detail, cause: 'ENOTDIR' });
    expect(server.requests).toBe(0);
    await rm(join(folder, 'file'));
    await mkdir(join(folder, 'file'));
    await loaded(of(1));
  });

  it('that is gone during the download fails the invocation', async () => {
    start({ folder: join(folder, 'a') });
    await inputs.prepare();
    server.behave(async (_, response) => {
      await rm(join(folder, 'a'), { recursive: true });
      response.writeHead(200, { etag: '"0x1"' }).end('x');
    });
    expect(await load(of(1))).toMatchObject({ kind: 'unavailable', cause: 'ENOENT' });
    expect(recorded()).toEqual([['200', 'folder']]);
  });

  it.each([
    ['file', 'EEXIST'],
    ['file/a', 'ENOTDIR'],
    ['link', 'ENOENT'],
  ])('is refused where no folder can be made: %s', async (name, code) => {
    await writeFile(join(folder, 'file'), '');
    await symlink('gone', join(folder, 'link'));
    await expect(createModuleFolder(join(folder, name)).prepare()).rejects.toThrow(code);
  });
});

describe('downloads beyond the limit', () => {
  it('wait', async () => {
    start({}, { atOnce: 1 });
    const signed = server.signed('a', 'a');
    const held: (() => void)[] = [];
    server.behave((_, response) => void held.push(() => response.writeHead(200, { etag: signed.etag }).end('a')));
    const loading = [load({ a: signed }), load({ a: signed })];
    await expect.poll(() => held).toHaveLength(1);
    held[0]?.();
    await Promise.race(loading);
    await expect.poll(() => held).toHaveLength(2);
    held[1]?.();
    expect((await Promise.all(loading)).map(({ kind }) => kind)).toEqual(['files', 'files']);
  });

  it('begin in their order, and wait no longer than their invocation', async () => {
    const run = createSemaphore(2);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const end = new AbortController();
    const begin = (name: string, signal = new AbortController().signal) =>
      run(signal, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    const finish = async (name: string, work: Promise<void>) => {
      await vi.waitFor(() => expect(ends.has(name)).toBe(true));
      ends.get(name)?.();
      await work;
    };
    const [first, second, third] = [begin('first'), begin('second'), begin('third', end.signal)];
    const [late, last] = [begin('late', end.signal), begin('last')];
    await finish('first', first);
    await vi.waitFor(() => expect(begun).toEqual(['first', 'second', 'third']));
    end.abort();
    await expect(late).rejects.toThrow('it timed out while other downloads were in progress');
    expect(begun).toHaveLength(3);
    await finish('second', second);
    await finish('third', third);
    await finish('last', last);
    expect(begun).toEqual(['first', 'second', 'third', 'last']);
    const again = [begin('fourth'), begin('fifth'), begin('sixth')];
    await vi.waitFor(() => expect(begun.slice(4)).toEqual(['fourth', 'fifth']));
    for (const [index, name] of ['fourth', 'fifth', 'sixth'].entries())
      await finish(name, again[index] as Promise<void>);
  });

  it('leave no listener on the signal of an invocation', async () => {
    const run = createSemaphore(1);
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    await Promise.all([run(signal, async () => {}), run(signal, async () => {})]);
    expect(removed).toHaveBeenCalledWith('abort', expect.any(Function));
  });
});

describe('over TLS', () => {
  it.each([true, false])('a file is downloaded from a host whose certificate is trusted: %s', async (isTrusted) => {
    const { key, cert, caFile } = await ensureCertificates(folder);
    const secure = await startForTest(startFileServer({ key, cert }));
    const ca = await readFile(caFile, 'utf8');
    start({ folder: join(folder, 'in') }, { hosts: [secure.host], loopbackHttp: false, ...(isTrusted && { ca }) });
    await inputs.prepare();
    expect((await load({ a: secure.signed('a', 'a') })).kind).toBe(isTrusted ? 'files' : 'failed');
  });

  it('a file is downloaded through the proxy of the process', async () => {
    const { key, cert, caFile } = await ensureCertificates(folder);
    const secure = await startForTest(startFileServer({ key, cert }));
    const proxy = await startForTest(startConnectProxy());
    onTestFinished(() => useProxies({ https: '', http: '', except: '' }));
    useProxies({ https: proxy.url, http: '', except: '' });
    const ca = await readFile(caFile, 'utf8');
    start({ folder: join(folder, 'in') }, { hosts: [secure.host], loopbackHttp: false, ca });
    await inputs.prepare();
    await loaded({ a: secure.signed('a', 'a') });
    expect([proxy.asked, secure.requests]).toEqual([[secure.host], 1]);
    await expect.poll(() => proxy.open()).toBe(0);
    proxy.behave('refuses');
    expect(await load({ a: secure.signed('b', 'b') })).toEqual(failed('its host does not respond: EPROXYREFUSED'));
    expect([secure.requests, recorded().flat()]).toEqual([1, ['200', '', '', 'no_connection']]);
  });

  it('plain http is allowed only from this machine, and only if configured', () => {
    const allowed = { hosts: ['127.0.0.1:8000', 'localhost', '[::1]', 'a.net'], loopbackHttp: false };
    const loopback = { ...allowed, loopbackHttp: true };
    expect(urlProblem('http://127.0.0.1:8000/x', allowed)).toMatch(/not https/);
    expect(urlProblem('http://a.net/x', loopback)).toMatch(/not https/);
    for (const url of ['http://127.0.0.1:8000/x', 'http://localhost/x', 'http://[::1]/x'])
      expect(urlProblem(url, loopback)).toBeUndefined();
    expect(urlProblem('https://A.net/x', allowed)).toBeUndefined();
    expect(urlProblem('https://a.net.evil.org/x', allowed)).toMatch(/not configured/);
    expect(urlProblem('https://a.net@evil.org/x', allowed)).toMatch(/credentials/);
    expect(urlProblem('https://:a@a.net/x', allowed)).toMatch(/credentials/);
    expect(urlProblem('https://a.net\\@evil.org/x', allowed)).toBeUndefined(); // it is a.net, and the path begins with @
  });
});
