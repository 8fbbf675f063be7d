import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FileServer, startFileServer } from './support/fileServer.ts';
import { edgeProgram } from './support/process.ts';
import { type Site, startSite } from './support/site.ts';

// The program as it is deployed: how it starts, ends, and is killed.

const said = (text: string) => site.lines.filter(({ msg }) => String(msg).includes(text));
let site: Site;

describe('the program', () => {
  afterEach(() => site.close());

  it('starts without hub and broker, says what it waits for, and ends when it is told to', async () => {
    site = await startSite({ isHubDown: true, isBrokerDown: true, process: {} });
    await vi.waitFor(
      async () =>
        expect((await site.readyz()).waitingFor).toEqual([
          expect.stringMatching(/^the hub: .*ECONNREFUSED/),
          expect.stringMatching(/^the broker: connect ECONNREFUSED/),
        ]),
      { timeout: 20_000 },
    );
    await vi.waitFor(() => expect(said('waiting for the')).toHaveLength(2), { timeout: 10_000 });
    site.process?.child.kill('SIGTERM');
    expect(await site.process?.ended).toBe(0);
  });

  it('finishes what is in work when it is told to end, and takes nothing more', async () => {
    site = await startSite({ process: {} });
    const press = await site.module('press');
    const calling = site.call();
    const request = await press.next();
    site.process?.child.kill('SIGTERM');
    await vi.waitFor(() => expect(said('stopping')).toHaveLength(1), { timeout: 10_000 });
    expect(await site.call()).toMatchObject({ status: 503, payload: { detail: 'the edge proxy stops' } });
    expect((await site.readyz()).waitingFor).toEqual(['an end to the stop']);
    request.reply(3);
    expect((await calling).payload).toEqual({ status: 3 });
    expect(await site.process?.ended).toBe(0);
  });

  it('waits for what is in work only so long: the outcome is then unknown', async () => {
    site = await startSite({ process: {}, limits: { drainSeconds: 1 } });
    const press = await site.module('press');
    const calling = site.call();
    await press.next();
    site.process?.child.kill('SIGTERM');
    expect(await calling).toMatchObject({
      status: 504,
      payload: { detail: expect.stringMatching(/stopped before the module replied/) },
    });
    expect(await site.process?.ended).toBe(0);
  });

  it('ends at once on a second signal', async () => {
    site = await startSite({ process: {} });
    const press = await site.module('press');
    const calling = site.call().catch((error: Error) => error);
    await press.next();
    site.process?.child.kill('SIGTERM');
    await vi.waitFor(() => expect(said('stopping')).toHaveLength(1), { timeout: 10_000 });
    site.process?.child.kill('SIGTERM');
    expect(await site.process?.ended).toBe(1);
    expect(await calling).toBeInstanceOf(Error);
  });

  it('is killed during a call: the reply that comes later is given to nobody', async () => {
    site = await startSite({ process: {} });
    const press = await site.module('press');
    const calling = site.call().catch((error: Error) => error);
    const request = await press.next();
    site.process?.child.kill('SIGKILL');
    expect(await calling).toBeInstanceOf(Error); // the hub says that the device went away
    await site.restart();
    await site.ready();
    request.reply(1);
    const next = site.call();
    (await press.next()).reply(2);
    expect((await next).payload).toEqual({ status: 2 });
    await vi.waitFor(() => expect(said('replies dropped')).toHaveLength(1), { timeout: 10_000 });
  });

  it.each([-10, 10])('works with a clock that is %i hours wrong', async (hours) => {
    site = await startSite({
      process: { shell: `CLOCK_HOURS=${hours}`, node: '--import ./test/edge/support/shiftedClock.mjs' },
    });
    const press = await site.module('press');
    const calling = site.call({ timeout: 5 });
    (await press.next()).reply(1);
    expect((await calling).payload).toEqual({ status: 1 });
    expect(await site.call({ timeout: 5 })).toMatchObject({ status: 504 });
    await vi.waitFor(() => expect(said('method not invoked')).toHaveLength(1), { timeout: 10_000 });
    const shift = Date.parse(String(said('method not invoked')[0]?.['time'])) - Date.now();
    expect(Math.round(shift / 3_600_000)).toBe(hours);
  });
});

describe('the program with files', () => {
  let server: FileServer;
  beforeEach(async () => {
    server = await startFileServer();
  });
  afterEach(async () => {
    await site.close();
    await server.close();
  });
  const files = () => ({ hosts: [server.host], loopbackHttp: true });

  it('is killed during a download: what it leaves is removed at the next start, and nothing else', async () => {
    site = await startSite({ process: {}, files: files() });
    const signed = server.signed('a', 'x'.repeat(1_000_000));
    server.behave((_, response) => response.writeHead(200, { etag: signed.etag }).write('x'.repeat(500_000)));
    const calling = site.call({ input: { a: 'a' }, files: { a: signed } }).catch((error: Error) => error);
    await vi.waitFor(async () => expect(await readdir(site.files)).toEqual([expect.stringMatching(/^\.incoming-/)]), {
      timeout: 10_000,
    });
    site.process?.child.kill('SIGKILL');
    expect(await calling).toBeInstanceOf(Error);
    await site.process?.ended;
    await writeFile(join(site.files, 'of-the-module'), '');
    expect(await readdir(site.files)).toHaveLength(2);
    await site.restart();
    await site.ready();
    expect(await readdir(site.files)).toEqual(['of-the-module']);
  });

  it('is told to end during a download that takes too long: nothing was delivered, and nothing is left', async () => {
    site = await startSite({ process: {}, files: files(), limits: { drainSeconds: 1 } });
    const press = await site.module('press');
    server.behave((_, response) => response.writeHead(200, { etag: '"0x1"' }).write('x'));
    const calling = site.call({ input: { a: 'a' }, files: { a: server.signed('a', 'xx') } });
    await vi.waitFor(() => expect(server.open).toBe(1), { timeout: 10_000 });
    site.process?.child.kill('SIGTERM');
    expect(await calling).toMatchObject({
      status: 503,
      payload: { detail: 'the edge proxy stopped before it was delivered' },
    });
    expect(await site.process?.ended).toBe(0);
    expect(await readdir(site.files)).toEqual([]);
    expect(press.received).toEqual([]);
  });

  it('cannot write a file as the disk takes no more: 503, and the next one is written', async () => {
    // The operating system refuses to let a file grow: in blocks of 512 or 1024 bytes.
    site = await startSite({ process: { shell: "trap '' XFSZ; ulimit -f 200;" }, files: files() });
    const press = await site.module('press');
    const answered = await site.call({ input: { a: 'a' }, files: { a: server.signed('a', 'x'.repeat(1_000_000)) } });
    expect(answered).toMatchObject({ status: 503, payload: { detail: 'the folder of the module cannot be written' } });
    const line = { cause: 'EFBIG', fileBytes: 1_000_000 };
    await vi.waitFor(() => expect(said('method not invoked').at(-1)).toMatchObject(line), { timeout: 10_000 });
    expect(await readdir(site.files)).toEqual([]);
    expect(press.received).toEqual([]);
    const small = site.call({ input: { a: 'a' }, files: { a: server.signed('b', 'x'.repeat(50_000)) } });
    (await press.next()).reply(0);
    expect((await small).status).toBe(200);
  });
});

describe('the command line', () => {
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [edgeProgram, ...args]).catch(
      (error: { code: number; stderr: string }) => error,
    );

  it('has help', async () => {
    expect(await run('--help')).toMatchObject({ stdout: expect.stringContaining('--check-config') });
  });

  it('says which option is wrong', async () => {
    expect(await run('--cofnig', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining("'--cofnig'") });
  });

  it('checks a configuration, and names the places of all that is wrong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edge-'));
    const file = join(folder, 'config.jsonc');
    const hub = { connectionString: 'HostName=h;DeviceId=d;SharedAccessKey=a2V5' };
    const module = { id: 'press', objectIds: ['x'], topics_methods_in: 'a/#', topics_methods_out: 'b' };
    const good = { ...module, objectIds: ['6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10'], topics_methods_in: 'a' };
    try {
      await writeFile(file, JSON.stringify({ hub, broker: { url: 'mqtt://h' }, modules: [good] }));
      expect(await run('--config', file, '--check-config')).toMatchObject({ stdout: `${file} is good: press\n` });
      await writeFile(file, JSON.stringify({ hub, broker: { url: 'mqtt://h' }, modules: [module] }));
      const { code, stderr } = (await run('--config', file, '--check-config')) as { code: number; stderr: string };
      expect(code).toBe(1);
      expect(stderr).toContain('  - modules[0].objectIds[0]: must be a GUID\n');
      expect(stderr).toContain('  - modules[0].topics_methods_in: must not have the wildcards + or #\n');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
