import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execFile, spawn } from '../../../sandbox/service/endWithUs.ts';
import type { HubState } from '../../src/command/stateFile.ts';
import { folderForAll, portForTest } from '../support/fixtures.ts';

const launcher = resolve('scripts/run.js');
const program = fileURLToPath(new URL('../../src/command/main.ts', import.meta.url));

const directory = folderForAll('hub');
let child: ChildProcess;
let state: HubState;
const options = ['--partitions', '2', '--device', 'pump-1', '--group', 'other', '--tier', 's1', '--json'];

const words = [launcher, program, '--directory', directory];
/** In a folder in which nobody runs a sandbox or a hub of their own. */
const start = (more: string[]) =>
  spawn(process.execPath, [...words, ...more], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
const run = (...more: string[]): Promise<{ code: number; out: string; error: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [...words, ...more], { cwd: directory }, (error, out, stderr) =>
      resolve({ code: Number(error?.code ?? 0), out: out.trim(), error: stderr.trim() }),
    );
  });

beforeAll(async () => {
  const started = start([...options, '--persist', join(directory, 'kept')]);
  child = started;
  const lines = createInterface({ input: started.stdout });
  let text = '';
  for await (const line of lines) {
    text += line;
    if (line === '}') break;
  }
  state = JSON.parse(text);
});
afterAll(() => void child.kill('SIGKILL'));

test('a hub that runs alone prints its connection details and writes them to a file that only its owner can read', async () => {
  const devices = { 'pump-1': expect.any(String) };
  expect(state).toMatchObject({ name: 'sandbox-hub', hostName: 'localhost', devices });
  expect(state.eventsConnectionString).toContain(`:${state.ports.amqp};`);
  expect((await stat(join(directory, 'hub.json'))).mode & 0o777).toBe(0o600);
  const described = await (await fetch(state.adminUrl)).json();
  expect(described).toMatchObject({ partitions: 2, ports: state.ports });
});

describe('a command for a running hub', () => {
  test('adds a device and lists it', async () => {
    const added = await run('devices', 'add', 'pump-2');
    expect(added).toMatchObject({ code: 0, out: expect.stringContaining('DeviceId=pump-2;') });
    expect((await run('devices')).out).toMatch(/^deviceId .*\npump-1 .*\npump-2 /s);
  });
  test('adds a fault and clears it', async () => {
    const { out } = await run('faults', 'add', 'settle', 'answer=reject', 'times=2', '--json');
    const { id } = JSON.parse(out);
    const { faults } = JSON.parse((await run('faults', '--json')).out);
    expect(faults).toEqual([{ id, fault: { kind: 'settle', answer: 'reject', times: 2 }, struck: 0 }]);
    expect((await run('faults', 'clear', id)).out).toBe('Done.');
    expect((await run('faults')).out).toBe('None.');
  });
  test('is refused with a sentence when it makes no sense', async () => {
    const sentence = 'That is no fault: times takes a whole number';
    const added = await run('faults', 'add', 'settle', 'answer=reject', 'times=often');
    expect(added).toMatchObject({ code: 1, error: expect.stringContaining(sentence) });
    expect(await run('dance')).toMatchObject({ code: 1, error: expect.stringContaining('no command "dance"') });
    expect(await run('--tier', 'S9')).toMatchObject({ code: 1, error: '--tier takes S1, S2 or S3.' });
  });
});

test.each(['amqp-port', 'mqtts-port', 'admin-port'])(
  'the error for a port that another program uses names the option --%s',
  async (option) => {
    const port = String(state.ports.amqps);
    const { code, error } = await run('--directory', join(directory, 'occupied'), `--${option}`, port);
    expect(code).toBe(1);
    expect(error).toBe(
      `--${option}: port ${port} is in use by another program; name another one, or leave the option out for a free one`,
    );
  },
);

test('a second hub in the same directory is refused, and a hub that ends removes its state file', async () => {
  expect(await run()).toMatchObject({ code: 1, error: expect.stringContaining('already') });
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(existsSync(join(directory, 'hub.json'))).toBe(false);
  expect(await run('devices')).toMatchObject({ code: 1, error: expect.stringContaining('No hub runs there') });
});

test('a hub whose admin port is open is asked with the token of its directory, and ends with its standard input', async () => {
  const own = join(directory, 'open');
  const at = ['--directory', own];
  // of this machine only, but no address by which a hub knows that
  const more = ['--admin-host', '::ffff:127.0.0.1', '--development', '--end-with-stdin', '--json'];
  const hub = spawn(process.execPath, [launcher, program, ...at, ...more], {
    ...{ cwd: directory, stdio: ['pipe', 'pipe', 'pipe'] },
  });
  let warned = '';
  hub.stderr.on('data', (text) => {
    warned += text;
  });
  let text = '';
  for await (const line of createInterface({ input: hub.stdout })) {
    text += line;
    if (line === '}') break;
  }
  const { adminToken, ports }: HubState = JSON.parse(text);
  expect(JSON.parse((await run(...at, 'devices', '--json')).out).devices).toHaveLength(2);
  expect((await run(...at)).error).toContain('A hub runs in');
  const admin = ['--admin', `http://127.0.0.1:${ports.admin}`];
  expect(await run(...admin, 'devices')).toMatchObject({ code: 1, error: expect.stringContaining('Bearer') });
  await writeFile(join(directory, 'token'), `${adminToken}\n`);
  expect(await run(...admin, '--admin-token', join(directory, 'token'), 'devices')).toMatchObject({ code: 0 });
  hub.stdin.end();
  expect(await once(hub, 'exit')).toEqual([0, null]);
  expect(existsSync(join(own, 'hub.json'))).toBe(false);
  expect(warned).toBe('THE KEYS OF THIS HUB ARE PUBLISHED: it keeps nobody out. For development only.\n');
});

test('a command finds the hub of a sandbox that runs in the folder, when no other does', async () => {
  const port = await portForTest(createServer((_, response) => response.end('{"devices":[]}')));
  await mkdir(join(directory, '.sandbox'));
  await writeFile(
    join(directory, '.sandbox/state.json'),
    JSON.stringify({ hub: { adminUrl: `http://127.0.0.1:${port}` } }),
  );
  expect(await run('devices', '--json')).toMatchObject({ code: 0, out: expect.stringContaining('"devices": []') });
});
