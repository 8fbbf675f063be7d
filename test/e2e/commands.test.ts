import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { help } from '../../sandbox/device/options.ts';
import { help as invokeHelp } from '../../sandbox/invoke/options.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { type MethodsState, projectDirectory, readState, type SandboxState } from '../../sandbox/state.ts';
import { catalogue } from '../../src/messages/index.ts';
import { startTestSandbox } from './testSandbox.ts';

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one of the project's programs to its end. */
function run(program: string, args: string[], input = ''): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const options = { cwd: projectDirectory, env: { PATH: process.env['PATH'] } };
    const child = execFile(
      process.execPath,
      ['--import', 'tsx', program, ...args],
      options,
      (error, stdout, stderr) => {
        if (error && typeof error.code !== 'number') reject(error);
        else resolve({ code: child.exitCode, stdout, stderr });
      },
    );
    child.stdin?.end(input);
  });
}

const example = (name: string) => join(projectDirectory, 'sandbox', 'examples', name);

let sandbox: Sandbox & { directory: string };
let folder: string;
beforeAll(async () => {
  [sandbox, folder] = await Promise.all([
    startTestSandbox({ methods: 'running' }),
    mkdtemp(join(tmpdir(), 'commands-')),
  ]);
});
afterAll(async () => {
  await sandbox?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('npm run device', () => {
  const device = (args: string[], input?: string) =>
    run('sandbox/device/main.ts', ['--directory', sandbox.directory, ...args], input);

  it('ends with 0 after a successful acknowledgement, and shows what was sent and what came back', async () => {
    const { code, stdout } = await device(['model.create', example('model.create.json')]);
    expect(stdout).toContain('pump-1 sends');
    expect(stdout).toContain('Svc.InformationModel.ObjectModelCreated');
    expect(stdout).toMatch(/"success": true/);
    expect(code).toBe(0);
  });

  it('sends the bytes of the file as they are', async () => {
    const sent = sandbox.hub.journal.list({ kind: 'd2c', deviceId: 'pump-1' }).at(-1);
    expect(sent?.kind === 'd2c' && sent.body).toEqual(await readFile(example('model.create.json')));
  });

  it('ends with 1 after a failed acknowledgement', async () => {
    const { code, stdout } = await device(['model.create', example('model.create-mistakes.json')]);
    expect(stdout).toMatch(/"success": false/);
    expect(code).toBe(1);
  });

  it('ends with 2 when no acknowledgement comes in time', async () => {
    const { code, stdout } = await device(['--wait', '0.2', '--ack', 'positive', 'model.create', '-'], 'no json');
    expect(stdout).toContain('not well-formed JSON');
    expect(stdout).toContain('No acknowledgement within 0.2 s');
    expect(code).toBe(2);
  });

  it('ends with 3 when there is no such file', async () => {
    const { code, stderr } = await device(['model.create', 'nowhere.json']);
    expect(stderr).toContain('nowhere.json');
    expect(code).toBe(3);
  });

  const examples = [...help.matchAll(/^ {2}npm run device -- (.*\.json)$/gm)].map(([, line = '']) => line);

  it('has an example of every message in its help', () => {
    const sent = examples.map((line) => line.split(' ').at(-2));
    expect(sent.sort()).toEqual(catalogue.map(({ name }) => name).sort());
  });

  it('sends them by hand, one after the other, and each succeeds', async () => {
    for (const line of examples) {
      const { code, stdout } = await device(line.split(' '));
      expect(code, `${line}\n${stdout}`).toBe(0);
    }
  });

  it('introduces a device that nobody knows, once', async () => {
    const args = ['--id', 'newcomer', '--prop', 'target=x', 'model.create', '-'];
    const body = JSON.stringify({ model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } });
    const first = await device(args, body);
    expect(first.stdout).toContain('newcomer: it has been introduced');
    expect(first.code, first.stdout).toBe(0);
    const second = await device(args, body);
    expect(second.stdout).not.toContain('introduced');
    expect(second.code, second.stdout).toBe(0);
  });

  it('says what to do when no sandbox runs', async () => {
    const { code, stderr } = await run('sandbox/device/main.ts', [
      '--directory',
      folder,
      'model.create',
      example('model.create.json'),
    ]);
    expect(stderr).toContain('npm run sandbox');
    expect(code).toBe(3);
  });
});

describe('npm run device -- --methods', () => {
  const payload = {
    correlationId: 'c-1',
    objectId: 'o-1',
    model: 'svc.device',
    target: '',
    method: 'stop',
    timeout: 30,
  };
  const call = { methodName: 'invokeMethod', responseTimeoutMs: 30_000, connectTimeoutMs: 30_000 };
  const invoke = (more: object = {}, id = 'motor-1') =>
    sandbox.hub.methods.invoke(id, { ...call, payload: { ...payload, ...more } });
  const answering = (...args: string[]) => run('sandbox/device/main.ts', [...inSandbox(), '--methods', ...args]);
  const inSandbox = () => ['--directory', sandbox.directory];

  it('answers with the inputs as they came, or with nothing, and shows what it was asked and what it said', async () => {
    const ended = answering('--id', 'motor-1', '--times', '2');
    expect(await invoke()).toEqual({ status: 200, payload: { status: 200 } });
    const input = { rpm: 1450 };
    expect(await invoke({ method: 'configure', input })).toEqual({
      status: 200,
      payload: { status: 200, output: input },
    });
    const { code, stdout } = await ended;
    expect(stdout).toContain('motor-1 is connected and answers methods');
    expect(stdout).toMatch(/motor-1 is invoked {2}configure[\s\S]*"rpm": 1450[\s\S]*motor-1 answers {2}200/);
    expect(code).toBe(0);
  });

  it('answers with the status and the output that it is given, later', async () => {
    const ended = answering(
      '--id',
      'motor-1',
      '--times',
      '1',
      '--status=-7',
      '--output',
      '{"a":[1]}',
      '--delay',
      '0.1',
    );
    expect(await invoke({ input: {} })).toEqual({ status: 200, payload: { status: -7, output: { a: [1] } } });
    expect((await ended).code).toBe(0);
  });

  it('says that the method could not be run', async () => {
    const ended = answering('--id', 'motor-1', '--times', '1', '--fail', '503', '--detail', 'the fuse is out');
    expect(await invoke()).toEqual({ status: 503, payload: { detail: 'the fuse is out' } });
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

  it('introduces a device that nobody knows, and ends with 3 when its connection is lost', async () => {
    const ended = answering('--id', 'motor-9');
    expect(await eventuallyInvoked('motor-9')).toEqual({ status: 200, payload: { status: 200 } });
    await sandbox.hub.faults.strike({ kind: 'drop', deviceId: 'motor-9' });
    const { code, stdout, stderr } = await ended;
    expect(stdout).toContain('motor-9: it has been introduced');
    expect(stderr).toContain('connection of device "motor-9" has ended');
    expect(code).toBe(3);
  });

  /** The device is unknown until the command has introduced it. */
  async function eventuallyInvoked(id: string) {
    await expect.poll(() => sandbox.hub.registry.get(id), { timeout: 60_000 }).toBeDefined();
    return invoke({}, id);
  }

  it.each([
    [['--status', 'fine'], '--status takes a whole number'],
    [['--output', '[]'], '--output takes a JSON object or none'],
    [['--delay', 'soon'], '--delay takes seconds'],
    [['model.create', 'x.json'], 'nothing is sent'],
  ])('does not take %j', async (args, says) => {
    const { code, stderr } = await answering(...args);
    expect(stderr).toContain(says);
    expect(code).toBe(3);
  });
});

describe('npm run invoke', () => {
  const invoke = (args: string[], input?: string) =>
    run('sandbox/invoke/main.ts', ['--directory', sandbox.directory, ...args], input);

  /** Runs `work` while the device answers methods, and gives what the device has shown. */
  async function whileAnswering(id: string, args: string[], work: () => Promise<void>): Promise<string> {
    const all = ['--directory', sandbox.directory, '--methods', '--id', id, ...args];
    const device = spawn(process.execPath, ['--import', 'tsx', 'sandbox/device/main.ts', ...all], {
      cwd: projectDirectory,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let shown = '';
    const listens = new Promise<void>((resolve) => {
      device.stdout.on('data', (chunk) => {
        shown += chunk;
        if (shown.includes('answers methods')) resolve();
      });
    });
    try {
      await listens;
      await work();
    } finally {
      const ended = once(device, 'exit');
      device.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    }
    return shown;
  }

  it('shows request, route and answer, and ends with 0', async () => {
    await whileAnswering('motor-1', [], async () => {
      const { code, stdout } = await invoke(['motor-1', 'stop']);
      expect(stdout).toMatch(/POST http:\S+\/methods\/stop\n/);
      expect(stdout).toMatch(/Conveyor motor, motor@1.0.0\n.*motor-1\n/);
      expect(stdout).toMatch(/information model +GET .* 200/);
      expect(stdout).toMatch(/invokeMethod → motor-1 {2}200/);
      expect(stdout).toMatch(/and answers {2}200[\s\S]*"status": 200/);
      expect(code).toBe(0);
    });
  });

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
      const { code, stdout } = await invoke(['motor-1', 'configure', ...args], input);
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
    [['--token', 'stranger', 'motor-1', 'stop'], 404, 1],
    [['--token', 'expired', 'motor-1', 'stop'], 401, 1],
    [['--token', 'none', 'motor-1', 'stop'], 401, 1],
    [['motor-1', 'fly'], 404, 1],
    [['--model', 'svc.configuration', 'b0057e50-0000-4000-8000-00000000000f', 'stop'], 404, 1],
    [['Spare motor', 'stop'], 409, 1],
    [['--timeout', '4', 'motor-1', 'stop'], 400, 1],
    [['motor-2', 'stop'], 503, 2],
  ])('tells by its exit code what became of %j', async (args, status, code) => {
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
  ])('asks nothing and ends with 3 for %j', async (args, says) => {
    const { code, stderr } = await invoke(args);
    expect(stderr).toContain(says);
    expect(code).toBe(3);
  });

  it('has examples in its help that succeed', async () => {
    const examples = [...invokeHelp.matchAll(/^ {2}npm run invoke -- ((?!--|\[).*)$/gm)].map(([, line = '']) => line);
    expect(examples).toHaveLength(4);
    await whileAnswering('gateway-1', [], async () => {
      await whileAnswering('motor-1', [], async () => {
        for (const example of examples) {
          const [object = '', method = '', input] = example.split(' ', 3);
          const given = input === undefined ? [] : [example.slice(example.indexOf("'") + 1, -1)];
          const { code, stdout, stderr } = await invoke([object, method, ...given]);
          expect(code, `${example}\n${stdout}${stderr}`).toBe(0);
        }
      });
    });
  });
});

describe('npm run sandbox', () => {
  it('refuses to start beside another one in the same folder', async () => {
    const { code, stderr } = await run('sandbox/main.ts', ['--directory', sandbox.directory, '--exit']);
    expect(stderr).toContain(`process ${process.pid}`);
    expect(code).toBe(1);
  });

  it('shows the demonstration, ends with 0 and leaves no state behind; with --json only the state is on stdout', async () => {
    const directory = join(folder, 'json');
    const { code, stdout, stderr } = await run('sandbox/main.ts', ['--directory', directory, '--exit', '--json']);
    expect(stderr).toContain('A pump registers itself');
    expect(stderr).toContain('An application stops a motor');
    expect(stderr).not.toMatch(/sig=[\w%]/);
    expect(code, stderr).toBe(0);
    const state: SandboxState = JSON.parse(stdout);
    expect(await readState(directory)).toBeUndefined();
    const methods = state.methods as MethodsState;
    for (const token of Object.values(methods.tokens)) expect(stderr).not.toContain(token);
    const storage = /BlobEndpoint=([^;]+)/.exec(methods.files.connectionString)?.[1] ?? '';
    const { hub, backends, service } = state;
    for (const url of [hub.adminUrl, backends.adminUrl, service.livezUrl, methods.url, methods.livezUrl, storage]) {
      await expect(fetch(url)).rejects.toThrow();
    }
    for (const pid of [service.pid, methods.pid]) expect(() => process.kill(pid ?? 2 ** 30, 0)).toThrow('ESRCH');
  });

  it('fails with --no-service --exit, and says that nobody answered', async () => {
    const { code, stderr } = await run('sandbox/main.ts', [
      '--directory',
      join(folder, 'none'),
      '--no-service',
      '--exit',
    ]);
    expect(stderr).toContain('started without a service');
    expect(code).toBe(1);
  });

  it('ends with 1 and the words of the service when the service does not start', async () => {
    const occupied = new URL(sandbox.state.service.url).port;
    const args = ['--directory', join(folder, 'occupied'), '--exit', '--service-port', occupied];
    const { code, stderr } = await run('sandbox/main.ts', args);
    expect(stderr).toContain('EADDRINUSE');
    expect(code).toBe(1);
  });

  it('takes over from one that was killed, keeps its secrets from other users, and ends in order when told to', async () => {
    const directory = join(folder, 'told');
    await mkdir(directory);
    await writeFile(join(directory, 'state.json'), JSON.stringify({ ...sandbox.state, pid: 2 ** 22 + 1 }));
    const { pid, stop } = start(['--directory', directory, '--no-service', '--no-methods']);
    await expect.poll(async () => (await readState(directory))?.pid, { timeout: 100_000 }).toBe(pid);
    expect((await readState(directory))?.methods).toMatchObject({ environment: { NODE_ENV: 'production' } });
    expect((await readState(directory))?.methods?.pid).toBeUndefined();
    for (const file of ['state.json', 'service.env', 'methods.env']) {
      expect((await stat(join(directory, file))).mode & 0o077, file).toBe(0);
    }
    expect(await stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(await readState(directory)).toBeUndefined();
  });

  it('ends in order when nobody reads what it prints any more', async () => {
    const directory = join(folder, 'unread');
    const args = ['--import', 'tsx', 'sandbox/main.ts', '--directory', directory];
    const child = spawn(process.execPath, args, { cwd: projectDirectory, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await ended).toEqual([0, null]);
    expect(await readState(directory)).toBeUndefined();
  });

  it.each([
    ['service', 'The service'],
    ['methods', 'The front door'],
  ] as const)('ends with 1 and the last words when the process of the %s dies', async (part, name) => {
    const directory = join(folder, `died-${part}`);
    const { ended } = start(['--directory', directory]);
    await expect.poll(() => readState(directory), { timeout: 100_000 }).toBeDefined();
    process.kill((await readState(directory))?.[part]?.pid ?? 2 ** 30, 'SIGKILL');
    const { code, stderr } = await ended;
    expect(stderr).toContain(`${name} ended: SIGKILL`);
    expect(code).toBe(1);
  });
});

/** Starts a sandbox that stays up until it is stopped. */
function start(args: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'sandbox/main.ts', ...args], {
    cwd: projectDirectory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stderr = text(child.stderr);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve)).then(async (code) => ({
    code,
    stderr: await stderr,
  }));
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { pid: child.pid, ended, stop };
}
