import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { folderForAll, startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { startFileServer } from './support/fileServer.ts';
import { edgeProgram, startTestEdge, type TestEdge } from './support/testEdge.ts';

// The program as deployed: start, stop and kill.

const logged = (text: string) => edge.lines.filter(({ msg }) => String(msg).includes(text));
let edge: TestEdge;

describe('the program', () => {
  afterEach(() => edge.close());

  it('starts without hub and broker, reports that it waits for them, and exits on SIGTERM', async () => {
    edge = await startTestEdge({ isAlone: true, process: {} });
    const [hub, broker] = [
      expect.stringMatching(/^the hub: .*ECONNREFUSED/),
      expect.stringMatching(/^the broker: connect ECONNREFUSED/),
    ];
    await expect.poll(async () => (await edge.readyz()).waitingFor).toEqual([hub, broker]);
    await expect.poll(() => logged('waiting for the')).toHaveLength(2);
    expect(await edge.metrics()).toContain('\ndevice_messaging_edge_connected{device_messaging_peer="hub"} 0\n');
    edge.process?.child.kill('SIGTERM');
    expect(await edge.process?.ended).toBe(0);
  });

  it('begins its log with what runs, without secrets, and switches to debug and back at SIGUSR2', async () => {
    edge = await startTestEdge({ process: {} });
    const { hub, modules, limits } = edge.configuration;
    expect(edge.lines[0]).toMatchObject({
      ...{ event: 'program.starting', instance: 'edge-1', build: 'unknown', version: expect.stringMatching(/^\d/) },
      configuration: { hub: { identity: 'edge-1' }, modules: modules.length, limits, log: { pretty: false } },
    });
    const changes = () => edge.lines.flatMap(({ logLevel }) => logLevel ?? []);
    const own = edge.configuration.log.level;
    edge.process?.child.kill('SIGUSR2');
    await expect.poll(changes).toHaveLength(1);
    edge.process?.child.kill('SIGUSR2');
    await expect.poll(changes).toHaveLength(2);
    expect(new Set(changes())).toEqual(new Set(['debug', own]));
    const key = /SharedAccessKey=([^;]+)/.exec(hub.connectionString)?.[1] ?? '';
    expect(key.length).toBeGreaterThan(10);
    expect(JSON.stringify(edge.lines)).not.toContain(key);
  });

  it('finds a changed configuration', async () => {
    edge = await startTestEdge({ process: {} });
    await edge.rewrite({ modules: edge.modules.slice(0, 1) });
    await expect.poll(() => edge.broker.subscriptionsOf('edge-proxy')).toEqual(['press/out/+/+']);
  });

  it('exits at once on a second signal', async () => {
    edge = await startTestEdge({ process: {} });
    const press = await edge.module('press');
    const calling = edge.call().catch((error: Error) => error);
    await press.next();
    edge.process?.child.kill('SIGTERM');
    await expect.poll(() => logged('stopping')).toHaveLength(1);
    edge.process?.child.kill('SIGTERM');
    expect(await edge.process?.ended).toBe(1);
    expect(await calling).toBeInstanceOf(Error);
  });

  it.each([-10, 10])('works with a clock that is %i hours wrong', async (hours) => {
    const shifted = { shell: `CLOCK_HOURS=${hours}`, node: '--import ./test/edge/support/shiftedClock.mjs' };
    edge = await startTestEdge({ process: shifted });
    const press = await edge.module('press');
    const calling = edge.call({ timeout: 5 });
    (await press.next()).reply(1);
    expect((await calling).payload).toEqual({ status: 1 });
    expect(await edge.call({ timeout: 5 })).toMatchObject({ status: 504 });
    await expect.poll(() => logged('method not invoked')).toHaveLength(1);
    const shift = Date.parse(String(logged('method not invoked')[0]?.['time'])) - Date.now();
    expect(Math.round(shift / 3_600_000)).toBe(hours);
  });
});

describe('the program with files', () => {
  const server = startForEach(startFileServer);
  afterEach(() => edge.close());
  const files = () => ({ hosts: [server.host], loopbackHttp: true });

  it('is killed during a download: the next start removes the temporary file and nothing else', async () => {
    edge = await startTestEdge({ process: {}, files: files() });
    const signed = server.signed('a', 'x'.repeat(1_000_000));
    server.behave((_, response) => response.writeHead(200, { etag: signed.etag }).write('x'.repeat(500_000)));
    const calling = edge.call({ input: { a: 'a' }, files: { a: signed } }).catch((error: Error) => error);
    await expect.poll(() => readdir(edge.files)).toEqual([expect.stringMatching(/^\.incoming-/)]);
    edge.process?.child.kill('SIGKILL');
    expect(await calling).toBeInstanceOf(Error);
    await edge.process?.ended;
    await writeFile(join(edge.files, 'of-the-module'), '');
    expect(await readdir(edge.files)).toHaveLength(2);
    await edge.restart();
    await edge.ready();
    expect(await readdir(edge.files)).toEqual(['of-the-module']);
  });

  it('cannot write a file because the disk is full: 503, and the next file is written', async () => {
    // The operating system refuses to let a file grow: in blocks of 512 or 1024 bytes.
    edge = await startTestEdge({ process: { shell: "trap '' XFSZ; ulimit -f 200;" }, files: files() });
    const press = await edge.module('press');
    const answered = await edge.call({ input: { a: 'a' }, files: { a: server.signed('a', 'x'.repeat(1_000_000)) } });
    expect(answered).toMatchObject({ status: 503, payload: { detail: 'the folder of the module cannot be written' } });
    const line = { cause: 'EFBIG', fileBytes: 1_000_000 };
    await expect.poll(() => logged('method not invoked').at(-1)).toMatchObject(line);
    expect(await readdir(edge.files)).toEqual([]);
    expect(press.received).toEqual([]);
    const small = edge.call({ input: { a: 'a' }, files: { a: server.signed('b', 'x'.repeat(50_000)) } });
    (await press.next()).reply(0);
    expect((await small).status).toBe(200);
  });
});

describe('the command line', () => {
  const folder = folderForAll('edge');
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [edgeProgram, ...args]).catch(
      (error: { code: number; stderr: string }) => error,
    );

  it('names the wrong option', async () =>
    expect(await run('--cofnig', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining("'--cofnig'") }));

  it('checks a configuration and lists its problems with their paths', async () => {
    const file = join(folder, 'config.jsonc');
    const hub = { connectionString: 'HostName=h;DeviceId=d;SharedAccessKey=a2V5' };
    const module = { id: 'press', objectIds: ['x'], topics_methods_in: 'a/#', topics_methods_out: 'b' };
    const good = { ...module, objectIds: ['6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10'], topics_methods_in: 'a' };
    await writeFile(file, JSON.stringify({ hub, broker: { url: 'mqtt://h' }, modules: [good] }));
    expect(await run('--config', file, '--check-config')).toMatchObject({ stdout: `${file} is valid: press\n` });
    await writeFile(file, JSON.stringify({ hub, broker: { url: 'mqtt://h' }, modules: [module] }));
    const { code, stderr } = (await run('--config', file, '--check-config')) as { code: number; stderr: string };
    expect(code).toBe(1);
    expect(stderr).toContain('  - line 1: modules[0].objectIds[0]: must be a GUID\n');
    expect(stderr).toContain('  - line 1: modules[0].topics_methods_in: must not contain the wildcards + or #\n');
  });
});
