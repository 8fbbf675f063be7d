import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { folderForAll, portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { Device, Reply } from '../../sandbox/device/device.ts';
import { readOptions } from '../../sandbox/live/acceptanceOptions.ts';
import { deploymentOf } from '../../sandbox/live/deployment.ts';
import { failingMessage } from '../../sandbox/live/messages.ts';
import { stepsFor } from '../../sandbox/live/steps.ts';
import { acknowledgement } from '../../sandbox/stories/wire.ts';

// How the steps of an acceptance run end after Ctrl-C. test/e2e/acceptance.test.ts has the run.

const folder = folderForAll('acceptance');
const names = { run: 'r', deviceId: 'd', firstId: 'a', secondId: 'b' };

/** The last step of a run, which makes the principal manager fail, with a person at a terminal. */
async function atTerminal(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  Object.assign(stdin, { isTTY: true });
  Object.assign(stderr, { isTTY: true });
  const owner = { HUB_OWNER_CONNECTION_STRING: 'HostName=h;SharedAccessKeyName=n' };
  const deployment = await deploymentOf(readOptions(args), { ...owner, ...environment }, { stdin, stderr });
  const ending = new AbortController();
  const { signal } = ending;
  const lost = once(signal, 'abort').then(() => Promise.reject(new Error('the device has left')));
  lost.catch(() => {});
  const step = stepsFor(deployment, names, 3_000, signal).at(-1);
  const letDie = (device: Pick<Device, 'send' | 'next'>) => step?.try(device as Device);
  const shown = () => String(stderr.read() ?? '');
  return { deployment, ending, lost, letDie, shown, type: (text: string) => void stdin.write(text) };
}

it('Ctrl-C at a question is the signal of the process: a terminal sends none', async () => {
  const { deployment, ending, shown, type } = await atTerminal();
  const end = () => ending.abort();
  process.once('SIGINT', end);
  onTestFinished(() => void process.off('SIGINT', end));
  const asked = deployment.restart?.do(ending.signal);
  await expect.poll(shown).toContain('press Enter');
  type('\x03');
  await expect(asked).rejects.toThrow();
  expect(ending.signal.aborted).toBe(true);
});

it('Ctrl-C while a command hinders the principal manager has it work again: the command may have done its work', async () => {
  const [begun, released] = [join(folder, 'begun'), join(folder, 'released')];
  const { ending, lost, letDie } = await atTerminal([
    '--hinder',
    `touch ${begun}; sleep 600`,
    '--release',
    `touch ${released}`,
  ]);
  const tried = letDie({ send: async () => {}, next: () => lost });
  await expect.poll(() => existsSync(begun)).toBe(true);
  ending.abort();
  await expect(tried).rejects.toThrow();
  expect(existsSync(released)).toBe(true);
});

it('Ctrl-C after a person has hindered the principal manager reminds of it', async () => {
  const { ending, lost, letDie, shown, type } = await atTerminal();
  const tried = letDie({ send: async () => ending.abort(), next: () => lost });
  await expect.poll(shown).toContain('Have the principal manager fail, then press Enter');
  type('\r');
  await expect(tried).rejects.toThrow('the device has left');
  expect(shown()).toContain('Have the principal manager work again!\n');
});

it('Ctrl-C ends the wait for a dead letter', async () => {
  let asked = 0;
  const admin = createServer((_, response) => {
    asked += 1;
    if (asked === 2) ending.abort(); // the first time is before the message
    response.end('{"deadLetters":[]}');
  });
  const environment = { ADMIN_URL: `http://127.0.0.1:${await portForTest(admin)}` };
  const { ending, letDie } = await atTerminal(['--hinder', 'true', '--release', 'true'], environment);
  const { message, id } = failingMessage(names);
  const body = { success: false, code: 'internal_platform_error', details: 'it fails' };
  const { properties } = acknowledgement(message, id, body);
  const reply = { properties: properties as Reply['properties'], body: Buffer.from(JSON.stringify(body)) };
  const tried = letDie({ send: async () => {}, next: async () => reply });
  await expect(tried).rejects.toThrow();
});
