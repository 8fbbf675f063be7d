import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { launcher } from '../../sandbox/state/directories.ts';

const program = fileURLToPath(new URL('./twoLines.ts', import.meta.url));

/** What a process has written that ends like this right after two lines. */
async function writtenBy(end: string): Promise<string[]> {
  const child = spawn(process.execPath, [launcher, program, end], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const lines = output.split('\n').filter((line) => line !== '');
  return lines.map((line) => `${JSON.parse(line).msg} ${JSON.parse(line).number ?? ''}`.trim());
}

describe('the lines of a process are complete', () => {
  it.each([
    ['by itself', 'return'],
    ['when it exits', 'exit'],
    ['when an error is not caught', 'throw'],
  ])('if it ends %s', async (_, end) => expect(await writtenBy(end)).toEqual(['handled 1', 'handled 2']));

  it('up to a warning, even if it is killed right after it', async () => {
    const [first, second, ...warning] = await writtenBy('kill');
    expect([first, second, warning.length]).toEqual(['handled 1', 'handled 2', 1]);
  });
  it('before a checkpoint is written, even if it is killed right after that (G5)', async () =>
    expect(await writtenBy('flush')).toEqual(['handled 1', 'handled 2']));
});

it('a process whose lines nobody reads goes on, and says how many are missing where they are', async () => {
  const child = spawn(process.execPath, [launcher, fileURLToPath(new URL('./unreadLines.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [{ port }] = await once(child, 'message');
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  const reading = text(child.stdout as Readable);
  child.send('end');
  const [[{ number: written }], output] = await Promise.all([once(child, 'message'), reading]);
  let [next, gaps] = [0, 0];
  for (const line of output.trim().split('\n')) {
    const { event, lines, number } = JSON.parse(line);
    if (event === 'log.lines_dropped') gaps += 1;
    else expect(number).toBe(next);
    next += lines ?? 1;
  }
  expect([next, gaps > 0]).toEqual([written, true]);
});
