import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { registerDevice } from '../../../sandbox/device/register.ts';
import { liveMessages } from '../../../sandbox/live/messages.ts';
import { launcher, projectDirectory } from '../../../sandbox/state/directories.ts';
import { stories } from '../../../sandbox/stories/index.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { check } from './run.ts';

// Messages through hub and service, by a program that has only the connection string of a device.

const sandbox = sandboxForAll();
let device: Readonly<Record<string, string>>;
beforeAll(async () => {
  const { connectionString } = await registerDevice('check-device', sandbox.state);
  device = { DEVICE_CONNECTION_STRING: connectionString, NODE_EXTRA_CA_CERTS: sandbox.hub.caFile };
});

/** In a folder without the `.env` of a person, which the command reads. */
const live = (args: readonly string[], environment = device) =>
  check([join(projectDirectory, 'scripts/check.ts'), '--live', ...args], environment, {
    program: launcher,
    cwd: sandbox.directory,
  });
const sent = () => sandbox.hub.journal.list({ kind: 'd2c' }).length;

it('has every message once', () => {
  const names = { run: 'r', deviceId: 'd', firstId: 'a', secondId: 'b' };
  const messages = liveMessages(names).map(({ message }) => message);
  expect(messages.toSorted()).toEqual(stories.map(({ message }) => message).toSorted());
});

it('says what it would do, and sends nothing without --yes', async () => {
  const { code, text } = await live([]);
  expect([code, sent()]).toEqual([0, 0]);
  expect(text).toContain('check-device');
  expect(text.replace(/\s+/g, ' ')).toMatch(/types stay for ever.*Nothing was sent/);
});

it('passes twice in a row: each run has names of its own', async () => {
  for (const _ of [1, 2]) {
    const { code, text } = await live(['--yes']);
    expect([code, text]).toEqual([0, expect.stringMatching(new RegExp(`\\n${stories.length} ✓ {2}0 ✗\\n$`))]);
    expect(text).not.toMatch(/SharedAccessKey/);
  }
});

describe('fails', () => {
  it('when an answer is wrong', async () => {
    sandbox.backends.faults.add({ backend: 'informationModel', method: 'PUT', times: 1, status: 400 });
    const { code, text } = await live(['--yes']);
    expect([code, text]).toEqual([1, expect.stringMatching(/✗ model\.update.*\n(.|\n)*body\.success is false/)]);
  });
  it('when an answer is missing', async () => {
    await sandbox.service?.stop();
    const { code, text } = await live(['--yes', '--wait', '1']);
    expect([code, text.match(/has not come within 1 s/g)?.length]).toEqual([1, stories.length]);
  });
  it.each([
    ['no connection string', {}, /must be the connection string of a device/],
    ['a wrong key', { DEVICE_CONNECTION_STRING: 'wrong' }, /must be the connection string of a device/],
  ])('with %s, in a sentence', async (_, environment, says) => {
    const { code, text } = await live(['--yes'], environment);
    expect([code, text]).toEqual([3, expect.stringMatching(says)]);
  });
});
