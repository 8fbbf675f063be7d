import { once } from 'node:events';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { EventHubConsumerClient } from '@azure/event-hubs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderForAll } from '../../../iot-hub-emulator/test/support/fixtures.ts';
import { spawn } from '../../../sandbox/service/endWithUs.ts';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { type MethodsState, readState, type SandboxState } from '../../../sandbox/state/state.ts';
import { codesIn, readPage, tableOf } from '../../docs/markdown.ts';
import { descendants, running } from '../../support/processes.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { run } from './run.ts';

const sandbox = sandboxForAll({ service: false });
const folder = folderForAll('commands');

describe('npm run sandbox', () => {
  it('refuses to start when another sandbox runs in the same folder', async () => {
    const port = String(sandbox.hub.ports.amqp); // that the other one has it is not what is wrong
    const options = ['--directory', sandbox.directory, '--exit', '--amqp-port', port];
    const { code, stderr } = await run('sandbox/main.ts', options);
    expect(stderr).toContain(`process ${process.pid}`);
    expect(code).toBe(1);
  });
  it('shows the demonstration, ends with 0 and leaves no state behind; with --json only the state is on stdout', async () => {
    const directory = join(folder, 'json');
    const httpsPort = String(await freePort());
    const options = ['--directory', directory, '--exit', '--json', '--verbose', '--https-port', httpsPort];
    const { code, stdout, stderr } = await run('sandbox/main.ts', options);
    expect(stderr).toContain('A pump registers itself');
    expect(stderr).toContain('An application stops a motor');
    expect(stderr).not.toMatch(/sig=[\w%]/);
    expect(stderr.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(code, stderr).toBe(0);
    const state: SandboxState = JSON.parse(stdout);
    expect(await readState(directory)).toBeUndefined();
    const members = tableOf(readPage('sandbox.md'), 'member').flatMap(({ member = '' }) => codesIn(member));
    const memberOf = (member: string) =>
      (member.match(/[\w-]+/g) ?? []).reduce<unknown>((at, name) => Object(at)[name], state);
    expect(members.filter((member) => memberOf(member) === undefined)).toEqual([]);
    const methods = state.methods as MethodsState;
    expect(methods.environment['HUB_SERVICE_CONNECTION_STRING']).toContain(`HostName=localhost:${httpsPort};`);
    for (const token of Object.values(methods.tokens)) expect(stderr).not.toContain(token);
    const storage = /BlobEndpoint=([^;]+)/.exec(methods.files.connectionString)?.[1] ?? '';
    const { hub, backends, service } = state;
    for (const url of [hub.adminUrl, backends.adminUrl, service.livezUrl, methods.url, methods.livezUrl, storage])
      await expect(fetch(url)).rejects.toThrow();
    for (const pid of [service.pid, methods.pid]) expect(() => process.kill(pid ?? 2 ** 30, 0)).toThrow('ESRCH');
  });
  it('says in at most 40 lines what a newcomer needs: the page, and commands to try', async () => {
    const directory = join(folder, 'brief');
    const { shown, stop } = start(['--directory', directory]);
    await expect.poll(shown, { timeout: 200_000 }).toContain('Ctrl-C');
    expect(shown()).toContain('examples went as expected');
    for (const next of ['The page', 'npm run device -- --id my-pump model.create', 'npm run invoke -- edge-1/press'])
      expect(shown()).toContain(next);
    const commands = shown().match(/npm run (device|invoke) .*/g) ?? [];
    expect(commands.filter((command) => !command.includes(` --directory ${directory}`))).toEqual([
      'npm run device -- --help',
    ]);
    expect(shown().split('\n').length).toBeLessThanOrEqual(40);
    expect((await stop('SIGINT')).code).toBe(0);
  });
  it('goes on after a demonstration that is not as expected, and says what differs', async () => {
    const directory = join(folder, 'differs');
    const port = await freePort();
    const options = ['--directory', directory, '--no-service', '--no-methods', '--service-port', String(port)];
    const { shown, stop } = start(options);
    await expect.poll(() => readState(directory), { timeout: 200_000 }).toBeDefined();
    const { hub } = (await readState(directory)) as SandboxState;
    const reply = { method: 'POST', body: JSON.stringify({ body: '{}' }) };
    for (const url of Array(2).fill(`${hub.adminUrl}/devices/pump-1/messages`))
      expect((await fetch(url, reply)).status).toBe(201);
    // Looks like a service that is ready, and answers no message.
    const ready = createServer((_, response) => void response.end());
    await once(ready.listen(port, '127.0.0.1'), 'listening');
    onTestFinished(() => void ready.close());
    await expect.poll(shown, { timeout: 200_000 }).toContain('Ctrl-C');
    const { code, stderr } = await stop('SIGINT');
    expect(stderr).toContain('“A pump registers itself” failed:\n  - reply 1 was not sent by the service');
    expect(code).toBe(0);
  });
  it('fails with --no-service --exit, and reports that there was no answer', async () => {
    const options = ['--directory', join(folder, 'none'), '--no-service', '--no-methods', '--exit'];
    const { code, stderr } = await run('sandbox/main.ts', options);
    expect(stderr).toContain('started without a service');
    expect(code).toBe(1);
  });
  it('starts nothing when another program has one of the ports, and names the option', async () => {
    const occupied = String(sandbox.hub.ports.amqp);
    const args = ['--directory', join(folder, 'occupied'), '--exit', '--amqp-port', '0', '--page-port', occupied];
    const { code, stdout, stderr } = await run('sandbox/main.ts', args);
    expect(stderr).toBe(
      `\n--page-port: port ${occupied} is in use by another program; name another one, or leave the option out for a free one\n`,
    );
    expect(stdout).not.toContain('listen');
    expect(code).toBe(1);
  });
  it('replaces one that was killed, hides its secrets from other users, and ends cleanly on a signal', async () => {
    const directory = join(folder, 'told');
    await mkdir(directory);
    await writeFile(join(directory, 'state.json'), JSON.stringify({ ...sandbox.state, pid: 2 ** 22 + 1 }));
    const { pid, stop } = start(['--directory', directory, '--no-service', '--no-methods', '--group', 'mine']);
    await expect.poll(async () => (await readState(directory))?.pid, { timeout: 200_000 }).toBe(pid);
    expect((await readState(directory))?.methods).toMatchObject({ environment: { NODE_ENV: 'production' } });
    expect((await readState(directory))?.methods?.pid).toBeUndefined();
    await readsEvents((await readState(directory)) as SandboxState, 'mine');
    for (const file of ['state.json', 'service.env', 'methods.env'])
      expect((await stat(join(directory, file))).mode & 0o077, file).toBe(0);
    expect(await stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(await readState(directory)).toBeUndefined();
  });
  it('ends cleanly when its output is no longer read', async () => {
    const directory = join(folder, 'unread');
    const options = ['--directory', directory, '--no-methods'];
    const args = ['scripts/run.js', 'sandbox/main.ts', ...options];
    const child = spawn(process.execPath, args, { cwd: projectDirectory, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await ended).toEqual([0, null]);
    expect(await readState(directory)).toBeUndefined();
  });
  it.each([
    ['service', 'The service', '--no-methods'],
    ['methods', 'The front door', '--no-service'],
  ] as const)('ends with 1 and the last log lines when the process of the %s dies', async (part, name, without) => {
    const directory = join(folder, `died-${part}`);
    const { ended } = start(['--directory', directory, without]);
    await expect.poll(() => readState(directory), { timeout: 200_000 }).toBeDefined();
    process.kill((await readState(directory))?.[part]?.pid ?? 2 ** 30, 'SIGKILL');
    const { code, stderr } = await ended;
    expect(stderr).toContain(`${name} ended: SIGKILL`);
    expect(code).toBe(1);
  });
  it('ends at Ctrl-C, which the terminal sends to all its processes', async () => {
    const directory = join(folder, 'interrupted');
    const { pid = 0, stop } = start(['--directory', directory]);
    await expect.poll(() => readState(directory), { timeout: 200_000 }).toBeDefined();
    const others = await descendants(pid);
    const ended = stop('SIGINT');
    for (const other of await running(others)) process.kill(other, 'SIGINT');
    expect(await ended).toMatchObject({ code: 0 });
    await expect.poll(() => running(others)).toEqual([]);
  });
  it('leaves no process behind when it is killed', async () => {
    const directory = join(folder, 'killed');
    const { pid = 0, stop } = start(['--directory', directory]);
    await expect.poll(() => readState(directory), { timeout: 200_000 }).toBeDefined();
    const others = await descendants(pid);
    expect(others.length).toBeGreaterThan(3); // service, front door, storage account, and what watches over them
    await stop('SIGKILL');
    await expect.poll(() => running(others)).toEqual([]);
  });
});

/** Starts a sandbox that stays up until it is stopped. */
function start(args: string[]) {
  const child = spawn(process.execPath, ['scripts/run.js', 'sandbox/main.ts', ...args], {
    cwd: projectDirectory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    written += more;
  });
  const stderr = text(child.stderr);
  const ended = once(child, 'exit').then(async ([code]) => ({ code, stderr: await stderr }));
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { pid: child.pid, shown: () => written, ended, stop };
}

/** A program of one's own reads beside the service. */
async function readsEvents({ hub }: SandboxState, group: string): Promise<void> {
  const reader = new EventHubConsumerClient(group, hub.eventsConnectionString);
  let failed: unknown;
  reader.subscribe('0', {
    processEvents: async () => undefined,
    processError: async (error) => {
      failed = error;
    },
  });
  const opened = async () => {
    const response = await fetch(`${hub.adminUrl}/journal?kind=receiver-opened`);
    const { entries } = (await response.json()) as { entries: unknown[] };
    return failed ?? entries.length > 0;
  };
  await expect.poll(opened, { timeout: 60_000 }).toBe(true);
  await reader.close();
}
