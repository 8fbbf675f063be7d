import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { portForTest } from '../../../iot-hub-emulator/test/support/fixtures.ts';
import { spawn } from '../../../sandbox/service/endWithUs.ts';
import { inherited } from '../../../sandbox/service/process.ts';
import { envelope } from '../../../sandbox/stories/wire.ts';
import { linesIn, nextAck, sandboxForAll } from '../testSandbox.ts';
import { findings } from './run.ts';

// The command beside a service that runs: it takes nothing from it, and asks for little.

const pump =
  '{"model":"svc.device","type":"pump","name":"Feed pump","properties":{"serial":"FP-9","maximumPressure":16.0,"runningHours":7}}';

const sandbox = sandboxForAll({ keepsContracts: false });

const warnings = () => linesIn(sandbox.state.service.logFile).filter(({ level }) => level !== 'info');

async function keeper(): Promise<string> {
  const folder = join(sandbox.directory, 'data', 'checkpoints');
  const name = (await readdir(folder)).find((file) => file.endsWith('.json'));
  return JSON.parse(await readFile(join(folder, name ?? ''), 'utf8')).keeper;
}

it('takes no partition, no file and no message, and makes a handful of requests', async () => {
  const device = await sandbox.connect('pump-1');
  const send = (id: string) => device.send(envelope('model.create', id), Buffer.from(pump));
  await send('before');
  expect((await nextAck(device)).body).toMatchObject({ code: 'ok' });
  const keptBy = await keeper();
  const since = sandbox.hub.journal.last;
  const linksBefore = sandbox.hub.counters().receivers.map(({ name }) => name);

  const { environment } = sandbox.state.service;
  const [first] = await Promise.all([findings([], environment), send('meanwhile')]);
  expect(first.found.filter(({ mark }) => mark !== 'ok')).toEqual([]);
  expect(first.code).toBe(0);
  const [, key = 'no key'] = /SharedAccessKey=([^;]+)/.exec(environment['HUB_SERVICE_CONNECTION_STRING'] ?? '') ?? [];
  for (const secret of [key, environment['BACKENDS_CLIENT_SECRET'] ?? 'no secret'])
    expect(first.text).not.toContain(secret);

  expect((await nextAck(device)).ack.correlationId).toBe('meanwhile');
  await send('after');
  expect((await nextAck(device)).ack.correlationId).toBe('after');
  const noted = sandbox.hub.journal.list({ since });
  expect(noted.filter(({ kind }) => kind.startsWith('receiver-'))).toEqual([]);
  expect(sandbox.hub.counters().receivers.map(({ name }) => name)).toEqual(linksBefore);
  expect(await keeper()).toBe(keptBy);
  expect(warnings()).toEqual([]);
  // One message, which the hub has refused, and one question to each backend.
  const ours = noted.filter((entry) => entry.kind === 'c2d' && entry.deviceId.startsWith('check-'));
  expect(ours).toEqual([expect.objectContaining({ refused: expect.anything() })]);
  const questions = sandbox.backends.calls({ since }).filter(({ deviceId }) => deviceId === 'none');
  expect(questions.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  await device.close();
});

it('tells how far the checkpoints are behind', async () => {
  const behind = async () => {
    const { found } = await findings([], sandbox.state.service.environment);
    return found.find(({ what }) => what === 'checkpoints')?.found;
  };
  await expect.poll(behind, { timeout: 60_000 }).toMatch(/^0 events behind the end of \d partitions?/);
});

it('ends at Ctrl-C while something does not answer', async () => {
  const silent = createServer();
  const port = await portForTest(silent);
  const env = { ...inherited(), ...sandbox.state.service.environment, BACKENDS_TOKEN_URL: `http://127.0.0.1:${port}` };
  const child = spawn(process.execPath, ['dist/check.js'], { env, stdio: 'ignore' });
  await once(silent, 'connection');
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([null, 'SIGINT']);
});
