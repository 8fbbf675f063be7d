import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { onExit } from '../../sandbox/service/onExit.ts';
import { launcher } from '../../sandbox/state/directories.ts';
import { descendants, running } from '../support/processes.ts';

const program = fileURLToPath(new URL('./support/startingOthers.ts', import.meta.url));

/** Resolves when a process has started others, in the way that is named, and they are there. */
async function start(what: string) {
  const parent = spawn(process.execPath, [launcher, program, what], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(parent.stdout, 'data');
  const { pid = 0 } = parent;
  return { parent, children: await descendants(pid) };
}

it.each([
  ['a storage account', 'azurite'],
  ['a process that stands still', 'stopped'],
  ['a group of processes', 'group'],
])('%s ends when its parent process is killed', async (_, what) => {
  const { parent, children } = await start(what);
  expect(children.length).toBeGreaterThan(1);
  parent.kill('SIGKILL');
  await expect.poll(() => running(children)).toEqual([]);
});

it('a child process ends when its parent fails', async () => {
  const { parent, children } = await start('sleeping');
  parent.kill('SIGUSR2');
  await expect.poll(() => running(children)).toEqual([]);
});

it('a child process does not keep its parent alive', async () => {
  const parent = spawn(process.execPath, [launcher, program, 'ending'], { stdio: 'ignore' });
  expect(await once(parent, 'exit')).toEqual([0, null]);
});

it('one exit listener serves any number of processes', () => {
  const before = process.listenerCount('exit');
  const called: number[] = [];
  const cancels = Array.from({ length: 20 }, (_, n) => onExit(() => void called.push(n)));
  expect(process.listenerCount('exit')).toBe(before + 1);
  const [cleanUp] = process.listeners('exit').slice(-1);
  cancels[7]?.();
  cleanUp?.(0);
  for (const cancel of cancels) cancel();
  cleanUp?.(0);
  expect(called).toEqual(Array.from({ length: 20 }, (_, n) => n).filter((n) => n !== 7));
});
