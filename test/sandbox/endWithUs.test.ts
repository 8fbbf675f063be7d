import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { endWithUs } from '../../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../../sandbox/state/directories.ts';
import { descendants, running } from '../support/processes.ts';

/** Runs code that starts processes and then waits; resolves when they are there. */
async function start(code: string) {
  const program = `${code}\nconsole.log('started');\nsetInterval(() => {}, 1_000);`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
  const parent = spawn(process.execPath, args, { cwd: projectDirectory, stdio: ['ignore', 'pipe', 'ignore'] });
  endWithUs(parent);
  await once(parent.stdout, 'data');
  const { pid = 0 } = parent;
  return { parent, children: await descendants(pid) };
}

const starting = (how: string, command: string) => `
  import { spawn } from 'node:child_process';
  import { endWithUs } from './sandbox/service/endWithUs.ts';
  const child = spawn('/bin/sh', ['-c', '${command}'], { stdio: 'ignore'${how} });`;

it.each([
  ['a storage account', "import { startAzurite } from './sandbox/methods/azurite.ts';\nawait startAzurite();"],
  ['a process that stands still', `${starting('', 'exec sleep 999')} endWithUs(child); child.kill('SIGSTOP');`],
  ['a group of processes', `${starting(', detached: true', 'sleep 999 & sleep 999')} endWithUs(child, true);`],
])('%s ends when the process that has started it is killed', async (_, code) => {
  const { parent, children } = await start(code);
  expect(children.length).toBeGreaterThan(1);
  parent.kill('SIGKILL');
  await expect.poll(() => running(children)).toEqual([]);
});

it('ends when the process that has started it has an error', async () => {
  const { parent, children } = await start(
    `${starting('', 'exec sleep 999')} endWithUs(child); process.on('SIGUSR2', () => { throw new Error('as planned'); });`,
  );
  parent.kill('SIGUSR2');
  await expect.poll(() => running(children)).toEqual([]);
});

it('lets the process end that has started one', async () => {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', `${starting('', 'exit')} endWithUs(child);`];
  const parent = spawn(process.execPath, args, { cwd: projectDirectory, stdio: ['ignore', 'ignore', 'pipe'] });
  endWithUs(parent);
  expect(await once(parent, 'exit')).toEqual([0, null]);
});
