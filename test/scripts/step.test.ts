import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { runStep, type StepOptions } from '../../scripts/ci/step.ts';
import { running } from '../support/processes.ts';

const directory = folderForEach('step');

/** What came of a script, which may write ids of processes to the file `pids`, and those of them that run still. */
async function step(script: string, options: Partial<StepOptions> = {}) {
  const why = await runStep(['sh', '-c', `cd ${directory}; : > pids; ${script}`], { limitMs: 60_000, ...options });
  const pids = readFileSync(join(directory, 'pids'), 'utf8').split('\n').filter(Boolean).map(Number);
  await expect.poll(() => running(pids)).toEqual([]);
  return { why, processes: pids.length };
}

const leaveOne = 'sleep 999 & echo $! >> pids';

it.each([
  ['that succeeds has nothing wrong', 'true', {}, undefined],
  ['that fails says how', 'exit 3', {}, 'exit code 3'],
  ['that is killed says by what', 'kill -9 $$', {}, 'SIGKILL'],
  ['that succeeds leaves no process behind', leaveOne, {}, undefined],
  ['that fails leaves no process behind', `${leaveOne}; exit 1`, {}, 'exit code 1'],
  ['ends when it takes too long', `${leaveOne}; wait`, { limitMs: 1_000 }, 'did not end within 1 s'],
  [
    'ends by force when it does not end otherwise',
    `trap "" TERM; ${leaveOne}; while :; do wait; done`,
    { limitMs: 1_000, graceMs: 100 },
    'did not end within 1 s',
  ],
])('a step %s', async (_, script, options, why) =>
  expect(await step(script, options)).toEqual({ why, processes: script.includes('sleep') ? 1 : 0 }),
);

it('a step ends when it is interrupted', async () => {
  const interrupt = new AbortController();
  const ending = step(`${leaveOne}; wait`, { signal: interrupt.signal });
  const pids = join(directory, 'pids');
  await expect.poll(() => existsSync(pids) && readFileSync(pids, 'utf8')).toMatch(/\d/);
  interrupt.abort();
  expect(await ending).toEqual({ why: 'interrupted', processes: 1 });
});

it('a step with a missing program reports that', async () =>
  expect(await runStep(['no-such-program'], { limitMs: 60_000 })).toContain('ENOENT'));
