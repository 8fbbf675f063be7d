import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import mqtt from 'mqtt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../edge/src/configuration/read.ts';
import { demonstrateMethods } from '../../sandbox/demonstration/demonstrateMethods.ts';
import type { InvocationResult } from '../../sandbox/demonstration/invocation.ts';
import { callFrontDoor } from '../../sandbox/invoke/call.ts';
import { findObject } from '../../sandbox/invoke/find.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { sandboxForAll } from '../e2e/testSandbox.ts';
import { breachesOfModule } from '../support/modulesContract.ts';

const sandbox = sandboxForAll({ methods: 'running', edge: true, service: false });

const invoke = async (object: string, method: string, body: object = {}) => {
  const { objectId } = await findObject(sandbox.state, object, 'svc.device');
  const token = sandbox.state.methods?.tokens.invoker;
  const request = { objectId, model: 'svc.device', method, token, body: JSON.stringify(body) };
  const { status, answer } = await callFrontDoor(sandbox.state, request, 60_000);
  return { status, answer: JSON.parse(answer) };
};

describe('the demonstration of an edge device', () => {
  let invoked: InvocationResult[];
  beforeAll(async () => {
    invoked = (await demonstrateMethods(sandbox)).filter(({ invocation }) => invocation.object.startsWith('edge-1'));
  });

  it('has a module, a gateway, files, and a module that does not exist', () =>
    expect(invoked.map(({ moduleRequests }) => moduleRequests.map(({ module }) => module).join())).toEqual([
      ...['press', 'press', 'press'],
      ...['line', 'line', ''],
    ]));

  it('conforms to the contract with modules', () => {
    const moduleRequests = invoked.flatMap((each) => each.moduleRequests);
    const behind = (topic: string) => topic.split('/').slice(4).join('/');
    const breaches = moduleRequests.flatMap(({ topic, payload, replyTopic, reply }) => [
      ...breachesOfModule('in', behind(topic), payload),
      ...breachesOfModule('out', behind(replyTopic), reply),
    ]);
    expect([breaches, moduleRequests.length]).toEqual([[], 5]);
  });

  it('writes no password, key or signature to the log of the proxy', async () => {
    const { proxy, broker } = sandbox.state.edge ?? {};
    const log = await readFile(proxy?.logFile ?? '', 'utf8');
    expect(log).toContain('method invoked');
    expect(log).not.toMatch(/sig=|SharedAccessKey/);
    for (const password of Object.values(broker?.passwords ?? {})) expect(log).not.toContain(password);
  });
});

it('a module whose method fails says so, and the sandbox goes on', async () => {
  const { status, answer } = await invoke('edge-1/press', 'loadFirmware'); // inputs may be left out, the file too
  expect([status, answer]).toEqual([200, { status: 500, output: { error: expect.stringContaining('ENOENT') } }]);
});

describe('the broker of the sandbox', () => {
  const connect = (user: string, password = sandbox.state.edge?.broker.passwords[user] ?? '') =>
    mqtt.connectAsync(sandbox.state.edge?.broker.url ?? '', { username: user, password, reconnectPeriod: 0 }, false);

  it('refuses a wrong password', () => expect(connect('mine', 'wrong')).rejects.toThrow(/Connection refused/));

  it('lets a module neither read requests to another module nor reply to them', async () => {
    const client = await connect('mine');
    await expect(client.subscribeAsync('modules/press/methods/in/#')).rejects.toThrow();
    await expect(client.subscribeAsync('#')).rejects.toThrow();
    const closed = new Promise((resolve) => client.once('close', () => resolve(true)));
    client.publish('modules/press/methods/out/200/x', '');
    expect(await closed).toBe(true);
  });
});

/** Starts a program that is a module; resolves when it has said something, or has ended. */
async function startProgram(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const env = { ...process.env, ...environment };
  const program = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await Promise.race([once(program.stdout, 'data'), once(program, 'exit')]);
  return program;
}

async function endProgram(program: ChildProcess): Promise<void> {
  const ended = once(program, 'exit');
  program.kill('SIGKILL');
  await ended;
}

describe('the README of the edge proxy', () => {
  const blockOf = async (language: string) =>
    new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(await readFile('edge/README.md', 'utf8'))?.[1] ?? '';
  const lines = (text: string) => text.split('\n').filter((line) => line !== '').length;

  it('has a module in TypeScript that answers', async () => {
    const { broker, modules } = sandbox.state.edge ?? {};
    const { hostname, port } = new URL(broker?.url ?? '');
    const { topics } = modules?.['mine'] ?? {};
    const code = await blockOf('ts');
    const program = await startProgram(['--input-type=module', '--eval', code], {
      ...{ BROKER_HOST: hostname, BROKER_PORT: port, MODULE: 'mine', PASSWORD: broker?.passwords['mine'] ?? '' },
      ...{ topics_methods_in: topics?.in ?? '', topics_methods_out: topics?.out ?? '' },
    });
    try {
      const expected = { status: 200, answer: { status: 200, output: { rpm: 900 } } };
      expect(await invoke('edge-1/mine', 'configure', { input: { rpm: 900 } })).toEqual(expected);
      expect((await invoke('edge-1/mine', 'stop')).answer).toEqual({ status: 404 });
    } finally {
      await endProgram(program);
    }
  });

  it('has modules of at most 15 lines', async () =>
    expect([lines(await blockOf('ts')), lines(await blockOf('python'))]).toEqual([14, 15]));
  it('has a valid configuration', async () => {
    const text = (await blockOf('json')).replace('HUB', 'HostName=h;DeviceId=d;SharedAccessKey=a2V5');
    expect(parseConfiguration(text).file.modules).toMatchObject([{ id: 'camera', identity: 'camera' }]);
  });
});

describe('the example of a module', () => {
  let example: ChildProcess;
  beforeAll(async () => {
    const environment = { STATE: join(sandbox.directory, 'state.json') };
    example = await startProgram(['scripts/run.js', 'sandbox/edge/example.ts'], environment);
  });
  afterAll(() => endProgram(example));

  it('has its methods', async () => {
    expect(await invoke('edge-1/mine', 'stop')).toEqual({ status: 200, answer: { status: 200 } });
    const expected = { status: 200, answer: { status: 200, output: { rpm: 900 } } };
    expect(await invoke('edge-1/mine', 'configure', { input: { rpm: 900 } })).toEqual(expected);
    expect(await invoke('edge-1/mine', 'configure')).toMatchObject({ answer: { status: 422 } });
  });

  it('gets files {S24.6}', async () => {
    const input = { image: 'firmware/motor-2.1.0.bin', name: 'motor-2.1.0.bin' };
    const expected = { status: 200, output: { name: 'motor-2.1.0.bin', bytes: 65_536 } };
    expect((await invoke('edge-1/mine', 'loadFirmware', { input })).answer).toEqual(expected);
  });
});
