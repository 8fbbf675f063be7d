import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Device } from '../../sandbox/device/device.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../../sandbox/state/directories.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { nextAck, sandboxForAll } from './testSandbox.ts';

// The command for dead letters, as an operator runs it: two devices have three each, and the service has stopped. With blobs:
// quarantine.test.ts.

const sandbox = sandboxForAll();
const devices: Device[] = [];
beforeAll(async () => {
  for (const id of ['pump-1', 'pump-2']) devices.push(await sandbox.connect(id));
  sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', status: 501 });
  await Promise.all(devices.map(failThrice));
  await sandbox.service?.stop();
});
afterAll(() => Promise.all(devices.map((device) => device.close())));

async function failThrice(device: Device) {
  for (const number of [1, 2, 3]) {
    const key = JSON.stringify({ publicKey: `${device.id} key ${number}` });
    await device.send(envelope('identity.update', `${device.id}-${number}`), Buffer.from(key));
    const { body } = await nextAck(device);
    expect(body).toMatchObject({ success: false, code: 'internal_platform_error' });
  }
}

function start(...args: string[]) {
  const env = { PATH: process.env['PATH'], ...sandbox.state.service.environment };
  const child = spawn(process.execPath, ['dist/deadLetters.js', ...args], { cwd: projectDirectory, env });
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code, stdout, stderr }),
  );
  return { child, ended };
}

const changes = (since: number) =>
  sandbox.backends
    .calls({ since })
    .filter(({ method, status }) => method === 'PUT' && status !== null && status < 300)
    .map(({ headers }) => headers['x-correlation-id'] ?? '');

it('npm run dead-letters stops at Ctrl-C after the dead letters in progress, and prints how many are left', async () => {
  sandbox.backends.faults.clear();
  sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', delayMs: 4_000 });
  const mark = sandbox.backends.journal.last;
  const { child, ended } = start('replay', '--device', 'pump-2');
  const calls = () => sandbox.backends.calls({ since: mark }).length;
  await expect.poll(calls, { timeout: 120_000, interval: 10 }).toBeGreaterThan(0);
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  expect(stderr).toContain('stopping after the dead letters in work');
  expect(stderr).toContain('1 handled, 2 left when stopped');
  expect([code, changes(mark)]).toEqual([1, ['pump-2-1']]);
});

it('npm run dead-letters handles each device’s dead letters in order after the cause is fixed, answers the devices, and deletes them', async () => {
  sandbox.backends.faults.clear();
  const mark = sandbox.backends.journal.last;
  const { code, stdout, stderr } = await start('replay').ended;
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
  expect((await start('list').ended).stderr).toContain('0 dead letters');
});
