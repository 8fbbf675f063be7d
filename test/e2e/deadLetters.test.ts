import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../sandbox/device/device.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../../sandbox/state/directories.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { type StorageAccount, storageAccount } from '../support/storageAccount.ts';
import { nextAck, sandboxForAll } from './testSandbox.ts';

let storage: StorageAccount;
beforeAll(async () => (storage = await storageAccount()));

const lines = (stdout: string) => stdout.split('\n').filter((line) => line !== '');
const _idsOf = (stdout: string) => lines(stdout).map((line) => line.split('  ')[0] ?? '');

function startCommand(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env['PATH'], ...environment };
  const options = { cwd: projectDirectory, env, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] };
  const child = spawn(process.execPath, ['dist/deadLetters.js', ...args], options);
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code: code as number | null, stdout, stderr }),
  );
  return { child, ended };
}

/** Two devices with three dead letters each, and the command; the service has stopped. */
function withLetters(settingsOf: () => Record<string, string>) {
  const sandbox = sandboxForAll({ service: false });
  let environment: Record<string, string>;
  const devices: Device[] = [];
  beforeAll(async () => {
    environment = { ...sandbox.state.service.environment, ...settingsOf() };
    Object.assign(sandbox.state.service.environment, environment);
    await sandbox.startService();
    for (const id of ['pump-1', 'pump-2']) devices.push(await sandbox.connect(id));
    for (const id of ['pump-1', 'pump-2']) failFor(id);
    await Promise.all(devices.map(failThrice));
    await sandbox.service?.stop();
  });
  afterAll(() => Promise.all(devices.map((device) => device.close())));

  const failFor = (deviceId: string) =>
    sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', status: 501, deviceId });

  async function failThrice(device: Device) {
    for (const number of [1, 2, 3]) {
      const key = JSON.stringify({ publicKey: `${device.id} key ${number}` });
      await device.send(envelope('identity.update', `${device.id}-${number}`), Buffer.from(key));
      const { body } = await nextAck(device);
      expect(body).toMatchObject({ success: false, code: 'internal_platform_error' });
    }
  }

  const start = (...args: string[]) => startCommand(args, environment);
  const run = (...args: string[]) => start(...args).ended;
  const changes = (since: number) =>
    sandbox.backends
      .calls({ since })
      .filter(({ method, status }) => method === 'PUT' && status !== null && status < 300)
      .map(({ headers }) => headers['x-correlation-id'] ?? '');

  return { devices, start, run, changes, backends: () => sandbox.backends };
}

describe('npm run dead-letters, with dead letters in a directory', () => {
  const { devices, start, run, changes, backends } = withLetters(() => ({}));

  it('lists a line for each dead letter, or for the selected ones', async () => {
    const { code, stdout, stderr } = await run('list');
    expect([code, lines(stdout).length]).toEqual([0, 6]);
    expect(stderr).toContain('6 dead letters');
    const some = await run('list', '--device', 'pump-2', '--since', '2020-01-01', '--code', 'internal_platform_error');
    expect(lines(some.stdout)).toHaveLength(3);
    expect(lines(some.stdout)[0]).toMatch(/ {2}"pump-2" {2}identity\.update {2}internal_platform_error {2}attempts 1 /);
    expect(lines((await run('list', '--code', 'timeout_exceeded')).stdout)).toEqual([]);
  });
  it('stops at Ctrl-C after the dead letters in progress, and prints how many are left', async () => {
    backends().faults.clear();
    backends().faults.add({ backend: 'principalManager', method: 'PUT', delayMs: 4_000 });
    const mark = backends().journal.last;
    const { child, ended } = start('replay', '--device', 'pump-2');
    const calls = () => backends().calls({ since: mark }).length;
    await expect.poll(calls, { timeout: 120_000, interval: 10 }).toBeGreaterThan(0);
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(stderr).toContain('stopping after the dead letters in work');
    expect(stderr).toContain('1 handled, 2 left when stopped');
    expect([code, changes(mark)]).toEqual([1, ['pump-2-1']]);
  });
  it('handles each device’s dead letters in order after the cause is fixed, answers the devices, and deletes them', async () => {
    backends().faults.clear();
    const mark = backends().journal.last;
    const { code, stdout, stderr } = await run('replay');
    expect(stderr).toContain('5 handled\n');
    expect([code, stdout]).toEqual([0, '']);
    const changed = changes(mark);
    expect(changed.filter((id) => id.startsWith('pump-1'))).toEqual(['pump-1-1', 'pump-1-2', 'pump-1-3']);
    expect(changed.filter((id) => id.startsWith('pump-2'))).toEqual(['pump-2-2', 'pump-2-3']);
    for (const device of devices) {
      for (const number of [1, 2, 3]) {
        const { ack, body } = await nextAck(device);
        expect([ack.properties['correlationId'], body.success]).toEqual([`${device.id}-${number}`, true]);
      }
    }
    expect((await run('list')).stderr).toContain('0 dead letters');
  });
});

describe('npm run dead-letters, with dead letters in blobs', () => {
  const { devices, run, changes, backends } = withLetters(() => ({
    STORE: 'blob',
    STORE_CONNECTION_STRING: storage.connectionString,
  }));
  it('lists them, handles each device’s in order, and deletes them', async () => {
    expect(lines((await run('list')).stdout)).toHaveLength(6);
    backends().faults.clear();
    const mark = backends().journal.last;
    const { code, stderr } = await run('replay');
    expect([code, stderr]).toEqual([0, expect.stringContaining('6 handled\n')]);
    for (const { id } of devices)
      expect(changes(mark).filter((of) => of.startsWith(id))).toEqual([`${id}-1`, `${id}-2`, `${id}-3`]);
    expect((await run('list')).stderr).toContain('0 dead letters');
  });
});

it('npm run dead-letters ends with 1 and names the wrong argument', async () => {
  const run = (...args: string[]) => startCommand(args).ended;
  const stderr = '--since must be a date, or a date and time\n';
  expect(await run('list', '--since', 'soon')).toMatchObject({ code: 1, stderr });
  const unset = await run('list');
  expect([unset.code, unset.stderr]).toEqual([1, expect.stringContaining('HUB_EVENTS_CONNECTION_STRING')]);
});
