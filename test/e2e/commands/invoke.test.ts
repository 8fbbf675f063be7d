import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll } from '../../../iot-hub-emulator/test/support/fixtures.ts';
import { sendOrAnswer } from '../../../sandbox/device/command.ts';
import { invoke as invokeHere } from '../../../sandbox/invoke/invoke.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { begin, run } from './run.ts';

const sandbox = sandboxForAll({ methods: 'running' });
const folder = folderForAll('commands');

describe('npm run invoke', () => {
  const inSandbox = (args: readonly string[]) => ['--directory', sandbox.directory, ...args];
  const invoke = (args: readonly string[], input?: string) =>
    begin((streams) => invokeHere(inSandbox(args), streams), input).ended;
  /** As a person does: in a process of its own. */
  const invokeByHand = (args: readonly string[], input?: string) =>
    run('sandbox/invoke/main.ts', inSandbox(args), input);

  /** Runs `work` while the device answers methods, and gives what the device has shown. */
  async function whileAnswering(id: string, args: string[], work: () => Promise<void>): Promise<string> {
    const interrupt = new AbortController();
    const all = inSandbox(['--methods', '--id', id, ...args]);
    const device = begin((streams) => sendOrAnswer(all, streams, () => interrupt.signal));
    try {
      await expect.poll(device.shown).toContain('answers methods');
      await work();
    } finally {
      interrupt.abort();
      expect(await device.ended).toMatchObject({ code: 0 });
    }
    return device.shown();
  }
  it('shows request, route and answer, and ends with 0', async () =>
    whileAnswering('motor-1', [], async () => {
      const { code, stdout } = await invokeByHand(['motor-1', 'stop']);
      expect(stdout).toMatch(/POST http:\S+\/methods\/stop\n/);
      expect(stdout).toMatch(/Conveyor motor, motor@1.0.0\n.*motor-1\n/);
      expect(stdout).toMatch(/information model +GET .* 200/);
      expect(stdout).toMatch(/invokeMethod → motor-1 {2}200/);
      expect(stdout).toMatch(/and answers {2}200[\s\S]*"status": 200/);
      expect(code).toBe(0);
    }));

  it('finds an object by its id, by the path of its owner and by its name', async () => {
    await whileAnswering('gateway-1', ['--status', '7'], async () => {
      const { stdout } = await invoke(['gateway-1/bus/drive-1', 'stop']);
      expect(stdout).toMatch(/target +bus\/drive-1/);
      const [, id = ''] = /objects\/([^/]+)/.exec(stdout) ?? [];
      for (const what of [id, id.toUpperCase(), 'Flap drive']) expect((await invoke([what, 'stop'])).code).toBe(0);
    });
    const { code, stderr } = await invoke(['motor', 'stop']);
    expect(stderr).toMatch(/There are:\n[\s\S]*Conveyor motor/);
    expect(code).toBe(3);
  });
  it('sends the input byte for byte, from the command line or from stdin', async () => {
    for (const [args, input] of [[['{"rpm":9007199254740993}']], [['-'], '{"rpm":9007199254740993}']] as const) {
      const { code, stdout } = await invokeByHand(['motor-1', 'configure', ...args], input);
      expect(stdout).toContain('"rpm": 9007199254740993');
      expect(code).toBe(1);
    }
    expect((await invoke(['motor-1', 'configure', '{'])).code).toBe(1);
  });
  it('uploads a file first, which the device fetches; no output has token or signature', async () => {
    const file = join(folder, 'new.bin');
    await writeFile(file, 'x'.repeat(1234));
    let all = '';
    all += await whileAnswering('motor-1', [], async () => {
      const { code, stdout, stderr } = await invoke([
        ...['--upload', `firmware/new.bin=${file}`, '--timeout', '20', 'motor-1', 'loadFirmware'],
        '{"image":"firmware/new.bin"}',
      ]);
      expect(code, stderr).toBe(0);
      all += stdout;
    });
    expect(all).toContain('file image: 1234 bytes fetched\n');
    expect(all).toContain('"timeout": 20');
    expect(all).not.toMatch(/sig=[\w%]/);
    for (const token of Object.values(sandbox.state.methods?.tokens ?? {})) expect(all).not.toContain(token);
  });
  it.each([
    [['--token', 'reader', 'motor-1', 'stop'], 403, 1],
    [['--token', 'none', 'motor-1', 'stop'], 401, 1],
    [['--model', 'svc.configuration', 'b0057e50-0000-4000-8000-00000000000f', 'stop'], 404, 1],
    [['Spare motor', 'stop'], 409, 1],
    [['--timeout', '4', 'motor-1', 'stop'], 400, 1],
    [['motor-2', 'stop'], 503, 2],
  ])('ends with the exit code of the result: %j', async (args, status, code) => {
    const ended = await invoke(args);
    expect(ended.stdout).toContain(`and answers  ${status}`);
    expect(ended.code).toBe(code);
  });
  it.each([
    [['--token', 'somebody', 'motor-1', 'stop'], '--token takes invoker'],
    [['--timeout', 'soon', 'motor-1', 'stop'], '--timeout takes whole seconds'],
    [['--upload', 'x', 'motor-1', 'stop'], '--upload takes NAME=FILE'],
    [['motor-1'], 'An object and a method are needed'],
    [['--directory', '/nowhere', 'motor-1', 'stop'], 'npm run sandbox'],
  ])('sends nothing and ends with 3 for %j', async (args, says) => {
    const { code, stderr } = await invoke(args);
    expect(stderr).toContain(says);
    expect(code).toBe(3);
  });
});
