import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { sendOrAnswer } from '../../../sandbox/device/command.ts';
import { spawn } from '../../../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { begin } from './run.ts';

const sandbox = sandboxForAll({ methods: 'running' });

describe('npm run device -- --methods', () => {
  const ids = { correlationId: 'c-1', objectId: 'o-1', model: 'svc.device', target: '' };
  const payload = { ...ids, method: 'stop', timeout: 30 };
  const call = { methodName: 'invokeMethod', responseTimeoutMs: 30_000, connectTimeoutMs: 30_000 };
  async function invoke(more: object = {}, id = 'motor-1') {
    const answer = await sandbox.hub.methods.invoke(id, { ...call, payload: { ...payload, ...more } });
    return { ...answer, payload: JSON.parse(answer.payload) };
  }
  const withMethods = (args: readonly string[]) => ['--directory', sandbox.directory, '--methods', ...args];
  const never = () => new AbortController().signal;
  const answering = (...args: string[]) => begin((streams) => sendOrAnswer(withMethods(args), streams, never)).ended;

  it.each(['SIGINT', 'SIGTERM'] as const)('answers until %s, and then ends with 0', async (signal) => {
    const program = ['scripts/run.js', 'sandbox/device/main.ts', ...withMethods(['--id', 'motor-1'])];
    const device = spawn(process.execPath, program, { cwd: projectDirectory, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(device, 'exit');
    let shown = '';
    device.stdout.on('data', (chunk) => {
      shown += chunk;
    });
    await expect.poll(() => shown).toContain('answers methods');
    for (const _ of [1, 2]) expect(await invoke()).toEqual({ status: 200, payload: { status: 200 } });
    device.kill(signal);
    expect(await ended).toEqual([0, null]);
  });
  it('answers with the inputs unchanged, or without output, and shows the invocation and its answer', async () => {
    const ended = answering('--id', 'motor-1', '--times', '2');
    expect(await invoke()).toEqual({ status: 200, payload: { status: 200 } });
    const input = { rpm: 1450 };
    const configured = await invoke({ method: 'configure', input });
    expect(configured).toEqual({ status: 200, payload: { status: 200, output: input } });
    const { code, stdout } = await ended;
    expect(stdout).toContain('motor-1 is connected and answers methods');
    expect(stdout).toMatch(/motor-1 is invoked {2}configure[\s\S]*"rpm": 1450[\s\S]*motor-1 answers {2}200/);
    expect(code).toBe(0);
  });
  it.each([
    [['--status=-7', '--output', '{"a":[1]}', '--delay', '0.1'], 200, { status: -7, output: { a: [1] } }],
    [['--fail', '503', '--detail', 'the fuse is out'], 503, { detail: 'the fuse is out' }],
  ])('answers as %j says', async (options, status, payload) => {
    const ended = answering('--id', 'motor-1', '--times', '1', ...options);
    expect(await invoke({ input: {} })).toEqual({ status, payload });
    expect((await ended).code).toBe(0);
  });
  it('fetches the files that come with an invocation', async () => {
    const url = new URL('/', sandbox.hub.adminUrl).href;
    const ended = answering('--id', 'motor-1', '--times', '1');
    await invoke({ files: { image: { url, bytes: 1 }, far: { url: 'https://example.org/x', bytes: 1 } } });
    const { stdout } = await ended;
    expect(stdout).toMatch(/file image: \d+ bytes fetched, though 1 were announced/);
    expect(stdout).toContain('file far: not fetched');
  });
  it('registers a new device, and ends with 3 when its connection is lost', async () => {
    const ended = answering('--id', 'motor-9');
    expect(await eventuallyInvoked('motor-9')).toEqual({ status: 200, payload: { status: 200 } });
    await sandbox.hub.faults.strike({ kind: 'drop', deviceId: 'motor-9' });
    const { code, stdout, stderr } = await ended;
    expect(stdout).toContain('motor-9 is new: it has been registered');
    expect(stderr).toContain('connection of device "motor-9" has ended');
    expect(code).toBe(3);
  });

  /** The device is unknown until the command has registered it. */
  async function eventuallyInvoked(id: string) {
    await expect.poll(() => sandbox.hub.registry.get(id)).toBeDefined();
    return invoke({}, id);
  }
  it.each([
    [['--status', 'fine'], '--status takes a whole number'],
    [['--output', '[]'], '--output takes a JSON object or none'],
    [['--delay', 'soon'], '--delay takes seconds'],
    [['model.create', 'x.json'], 'nothing is sent'],
  ])('refuses %j', async (args, says) => {
    const { code, stderr } = await answering(...args);
    expect(stderr).toContain(says);
    expect(code).toBe(3);
  });
});
