import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { startAzurite } from '../../../sandbox/methods/azurite.ts';
import { spawn } from '../../../sandbox/service/endWithUs.ts';

/** Starts processes that are to end with this one, in the way that its argument names, and says when they are there. */

const shell = (command: string, options: SpawnOptions = {}): ChildProcess =>
  spawn('/bin/sh', ['-c', command], { stdio: 'ignore', ...options });

const ways: Record<string, () => unknown> = {
  azurite: startAzurite,
  sleeping: () => shell('exec sleep 999'),
  stopped() {
    const child = shell('exec sleep 999');
    child.kill('SIGSTOP');
  },
  group: () => shell('sleep 999 & sleep 999', { detached: true }),
  ending: () => shell('exit'),
};

const [, , way = ''] = process.argv;
process.on('SIGUSR2', () => {
  throw new Error('as planned');
});
await ways[way]?.();
if (way !== 'ending') {
  process.stdout.write('started\n');
  setInterval(() => {}, 1_000);
}
