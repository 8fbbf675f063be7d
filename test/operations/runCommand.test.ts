import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runCommand } from '../../src/operations/commands.ts';
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
  vi.restoreAllMocks();
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
