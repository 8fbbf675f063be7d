import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { faults } from '../mutants/faults.ts';
import { descendants, running } from '../support/processes.ts';

const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|npm_)/.test(name)));
const firstFault = faults[0]?.fault ?? '';
const temporary = folderForEach('leftovers');
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** A program of ours with at least so many processes that it has started. */
async function start(args: readonly string[], count: number, added = {}) {
  const child = spawn(process.execPath, args, { env: { ...env, ...added }, stdio: 'ignore' });
  started.push(child);
  const { pid = 0 } = child;
  await expect.poll(async () => (await descendants(pid)).length).toBeGreaterThanOrEqual(count);
  return { child, descendants: () => descendants(pid) };
}

it.each([
  ['a test run', ['node_modules/vitest/vitest.mjs', 'run', 'test/e2e/start.test.ts', '--maxWorkers=1'], 1],
  ['deliberate faults', ['scripts/run.js', 'scripts/mutants.ts', firstFault], 3],
] as const)('%s: no child process is left when the process is killed', async (_, args, count) => {
  const { child, descendants } = await start(args, count);
  const pids = await descendants();
  child.kill('SIGKILL');
  await expect.poll(() => running(pids)).toEqual([]);
});

it('deliberate faults: Ctrl-C ends all processes', async () => {
  const { child, descendants } = await start(['scripts/run.js', 'scripts/mutants.ts', firstFault], 3);
  const pids = await descendants();
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([130, null]);
  await expect.poll(() => running(pids)).toEqual([]);
});

/** Its words; nothing when it has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

it.each([
  [
    'bench: Ctrl-C',
    { args: ['test/bench/main.ts', '--quick', 'idle'], until: /dist\/main.js/, interval: 25, folder: /^bench-/ },
  ],
  [
    'trouble with seeds: Ctrl-C while the service is built',
    {
      args: ['test/chaos/main.ts', '--seeds', '1'],
      until: /lib\/tsc .*tsconfig.build/,
      interval: 5,
      folder: /^chaos-/,
    },
  ],
])('%s leaves no process and no file', async (_, { args, until, interval, folder }) => {
  const { child, descendants } = await start(['scripts/run.js', ...args], 0, { TMPDIR: temporary });
  const commands = async () => (await descendants()).map(commandOf);
  await expect.poll(commands, { interval }).toContainEqual(expect.stringMatching(until));
  const pids = await descendants();
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([130, null]);
  await expect.poll(() => running(pids)).toEqual([]);
  expect(readdirSync(temporary).filter((name) => folder.test(name))).toEqual([]);
});
