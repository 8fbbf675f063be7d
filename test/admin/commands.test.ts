import { createServer, type RequestListener } from 'node:http';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startAdminServer } from '../../src/admin/adminServer.ts';
import { askAdmin, readableLine, runCommand } from '../../src/admin/commands.ts';
import { ConfigurationError } from '../../src/settings/config.ts';

let exitCode: typeof process.exitCode;
let before: readonly unknown[];
beforeEach(() => {
  exitCode = process.exitCode;
  before = process.stdout.listeners('error');
});
afterEach(() => {
  process.exitCode = exitCode;
  for (const listener of listeners()) process.stdout.off('error', listener);
});

type Listener = (error: object) => void;
const listeners = () => process.stdout.listeners('error').filter((one) => !before.includes(one)) as Listener[];

/** What a command that ends like this prints of an error, and its exit code. */
async function run(command: (args: string[]) => Promise<number>) {
  const printed: unknown[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => printed.push(text) > 0);
  await runCommand(command);
  const code = process.exitCode;
  vi.mocked(process.stderr.write).mockRestore();
  return [code, printed.join('')];
}

it('a command has the arguments of the process, and ends with its own exit code', async () => {
  const { argv } = process;
  try {
    process.argv = ['node', 'dead-letters', 'list', '--all'];
    expect(await run(async (args) => (args.join() === 'list,--all' ? 3 : 4))).toEqual([3, '']);
  } finally {
    process.argv = argv;
  }
});

it.each([
  ['an error, line by line', new Error('not there:\n\u001b[2J'), 'not there:\n\\u001b[2J\n'],
  ['each problem of the settings', new ConfigurationError(['A is required', 'B\n']), 'A is required\nB\\u000a\n'],
])('a command that fails prints %s, without control characters, and ends with 1', async (_, error, text) =>
  expect(await run(() => Promise.reject(error))).toEqual([1, text]),
);

it.each([
  ['EPIPE', 0],
  ['EIO', 1],
])('a command ends when its output fails with %s, with %i', async (code, expected) => {
  await run(async () => 0);
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never);
  for (const listener of listeners()) listener({ code });
  expect(exit.mock.calls).toEqual([[expected]]);
});

const token = 'the-token-of-the-operators';

async function started() {
  const routes = {
    '/state': { about: 'what it does', get: (query: URLSearchParams) => ({ asked: query.get('q') }) },
    '/level': { about: 'the level', put: (body: unknown) => ({ put: body }) },
  };
  const server = await startAdminServer({ host: '127.0.0.1', port: 0, token, about: {}, routes });
  onTestFinished(() => server.close());
  return server.port;
}

it.each(['127.0.0.1', 'localhost', '0.0.0.0'])('The token is sent to an admin port at %s', async (host) => {
  const settings = { host, port: await started(), token };
  expect(await (await askAdmin(settings, undefined, '/state?q=1')).json()).toEqual({ asked: '1' });
  expect(await (await askAdmin(settings, undefined, '/level', { level: 'debug' })).json()).toEqual({
    put: { level: 'debug' },
  });
});

it('No token is sent to an admin port without one, also at an address other than that of the settings', async () => {
  let authorization: string | undefined = 'not asked';
  const port = await otherProgram((request, response) => {
    authorization = request.headers.authorization;
    response.end('{}');
  });
  await askAdmin({ host: '127.0.0.1', port: 1, token: '' }, `http://127.0.0.1:${port}`, '/state');
  expect(authorization).toBeUndefined();
});

it.each(['//127.0.0.2:1/state', 'http://127.0.0.2:1/state'])(
  'A command sends no other host the token: %s',
  async (path) => {
    const settings = { host: '127.0.0.1', port: await started(), token };
    await expect(askAdmin(settings, undefined, path)).rejects.toThrow('the path must begin with one slash');
  },
);

/** The port of another program than ours. */
const otherProgram = (listener: RequestListener) => portForTest(createServer(listener));

it('A command follows no redirect', async () => {
  const asked: (string | undefined)[] = [];
  const port = await otherProgram((request, response) => {
    asked.push(request.url);
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  await expect(askAdmin({ host: '127.0.0.1', port, token }, undefined, '/state')).rejects.toThrow(/does not answer/);
  expect(asked).toEqual(['/state']);
});

it('A command that is refused in another form asks whether another program has the port', async () => {
  const port = await otherProgram((_, response) => response.writeHead(404).end('<!doctype html>'));
  await expect(askAdmin({ host: '127.0.0.1', port, token }, undefined, '/state')).rejects.toThrow(
    'the admin port answers 404: is it another program?',
  );
});

it.each([
  ['::1', '[::1]'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '127.0.0.1'],
])('A command asks an admin port that listens on %s at %s', (host, asked) =>
  expect(askAdmin({ host, port: 1, token }, undefined, '/state')).rejects.toThrow(`http://${asked}:1 `),
);

it('A command prints the refusal of the admin port, and never the token', async () => {
  const settings = { host: '127.0.0.1', port: await started(), token: 'another-token-of-16' };
  await expect(askAdmin(settings, undefined, '/state')).rejects.toThrow(/^a bearer token is needed/);
  await expect(askAdmin({ ...settings, token }, undefined, '/nothing')).rejects.toThrow(/^there is no such path/);
});

const event = {
  ...{ time: '2026-01-02T03:04:05.678Z', stage: 'attempt', device: 'pump-1', partition: '0' },
  ...{ sequenceNumber: 4711, backend: 'information model', status: 200, ms: 34 },
  ...{ path: '/objects/1/models/svc.device', response: '{"a":1}' },
};

it('A line of the tap for people has the time, the position, the stage and the fields; a body stands below', () =>
  expect(readableLine(JSON.stringify(event), false)).toBe(
    '03:04:05.678  0/4711      attempt      backend="information model"  status=200  ms=34  path=/objects/1/models/svc.device\n' +
      '    response: {"a":1}\n',
  ));

it('A line about an invocation has its correlation id', () => {
  const { partition: _, sequenceNumber: __, ...invocation } = { ...event, stage: 'sent', correlationId: 'shift-7' };
  expect(readableLine(JSON.stringify(invocation), false)).toMatch(/^03:04:05\.678 {2}shift-7 {5}sent {9}backend=/);
});
it('A line of the tap has its stage in colour at a terminal', () =>
  expect(readableLine(JSON.stringify(event), true)).toContain('\u001b[34mattempt    \u001b[0m'));

it('A line of the tap cannot control the terminal', () => {
  const line = readableLine(JSON.stringify({ ...event, path: '\u001b[2J', response: '"\u202e"' }), false);
  for (const character of ['\u001b', '\u202e']) expect(line).not.toContain(character);
  expect(line).toContain('\\u001b[2J');
});
