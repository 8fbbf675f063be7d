import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildService } from '../../../sandbox/service/build.ts';
import { envelope } from '../../../sandbox/stories/wire.ts';
import { runNode } from '../commands/run.ts';
import { deviceForAll, nextAck, sandboxForAll } from '../testSandbox.ts';
import { createDesk, createSenders, operatorsToken, publicKey } from './desk.ts';

// One device, followed live, by the command; and no secret in anything that is said.

beforeAll(async () => void (await buildService()));
const sandbox = sandboxForAll({ service: false, environment: { ADMIN_TOKEN: operatorsToken, LOG_LEVEL: 'debug' } });
const pump = deviceForAll(sandbox);
let desk: ReturnType<typeof createDesk>;
let backendsToken: string;
beforeAll(async () => {
  backendsToken = await tokenFrom(sandbox.backends.token);
  const { environment } = sandbox.state.service;
  Object.assign(environment, { BACKENDS_TOKEN: backendsToken, BACKENDS_TOKEN_URL: '' });
  await sandbox.startService();
  desk = createDesk(sandbox.state.service);
  await (await sandbox.connect('other')).close();
});

const send = (name: string, id: string, properties: Record<string, string>, body: string) =>
  pump.send({ ...envelope(name, id), ...properties }, Buffer.from(body));

const run = (command: 'tap' | 'admin', ...options: string[]) =>
  runNode([`dist/${command}.js`, ...options], {
    ADMIN_PORT: new URL(sandbox.state.service.adminUrl).port,
    ADMIN_TOKEN: operatorsToken,
  });

/** As the service would get one: it must know this one, so that the test can look for it. */
async function tokenFrom({ url, clientId, clientSecret }: typeof sandbox.backends.token): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return JSON.parse(await response.text()).access_token;
}

describe('What happens to the messages of a device now? The tap', () => {
  it('follows a message of the device through every stage, and no other device’s', async () => {
    const body = `{"publicKey":"${publicKey}","counter":9007199254740993}`;
    const puts = { backend: 'principalManager', method: 'PUT', deviceId: 'pump-1' } as const;
    sandbox.backends.faults.add({ ...puts, status: 503, times: 1 });
    const output = await desk.tap(['--device', 'pump-1', '--json', '--bodies'], '"stage":"handled"', async () => {
      createSenders(sandbox).renewKeys('other', 1);
      await send('identity.update', 'followed', { context: 'renewal' }, body);
      await nextAck(pump);
    });
    const lines = output.trimEnd().split('\n');
    const events = lines.map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ stage: 'following', device: 'pump-1', instance: expect.any(String) });
    const stages = events.slice(1).map(({ stage }) => stage);
    expect(stages).toEqual(['read', 'begun', 'decoded', ...stages.slice(3, -2), 'reply', 'handled']);
    expect(new Set(events.map(({ device }) => device))).toEqual(new Set(['pump-1']));
    const find = (stage: string) => events.find((event) => event.stage === stage);
    expect(find('read')).toMatchObject({ properties: { action: 'identity.update', context: 'renewal' } });
    expect(find('begun')).toMatchObject({ message: 'identity.update', correlationId: 'followed', ack: 'all' });
    expect(find('decoded').body).toContain('9007199254740993');
    const attempts = events.filter(({ stage, method }) => stage === 'attempt' && method === 'PUT');
    expect(attempts).toMatchObject([
      { backend: 'principal manager', attempt: 1, status: 503, ms: expect.any(Number) },
      { backend: 'principal manager', attempt: 2, status: expect.any(Number), ms: expect.any(Number) },
    ]);
    expect(find('reply')).toMatchObject({ outcome: 'delivered', properties: { msgType: 'ack', context: 'renewal' } });
    expect(find('handled')).toMatchObject({ code: 'ok', replies: 1 });
  });
  it('ends after its time with 0, and reports when it has seen nothing', async () => {
    const ended = await run('tap', '--device', 'silent', '--seconds', '1');
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/ended.*events=0.*nothing of this device/) });
  });
});

it('the command that asks the admin port prints an answer, and changes the level of the log', async () => {
  const asked = await run('admin', '/devices?device=pump-1');
  expect([asked.code, JSON.parse(asked.stdout)]).toEqual([0, expect.objectContaining({ devices: [] })]);
  const changed = await run('admin', '--level', 'trace');
  expect([changed.code, JSON.parse(changed.stdout)]).toEqual([0, { level: 'trace' }]);
  expect(await desk.ask('/level')).toEqual({ level: 'trace', atStart: 'debug' });
  desk.said.push(asked.stdout);
});

it('No output of the admin port, the tap and the log has a secret', async () => {
  const { environment, logFile } = sandbox.state.service;
  for (const path of ['/', '/settings', '/partitions', '/backends', '/replies', '/devices', '/level'])
    await desk.ask(path);
  const keys = Object.values(environment).flatMap((value) => /SharedAccessKey=([^;]+)/.exec(value)?.[1] ?? []);
  const secrets = [...keys, backendsToken, environment['BACKENDS_CLIENT_SECRET'] ?? '', operatorsToken, publicKey];
  expect(keys).toHaveLength(2);
  const all = [...desk.said, await readFile(logFile, 'utf8')].join('\n');
  expect(all.length).toBeGreaterThan(5_000);
  for (const secret of [...secrets, 'SharedAccessSignature sr=']) {
    expect(secret.length).toBeGreaterThan(8);
    expect(all).not.toContain(secret);
  }
});
