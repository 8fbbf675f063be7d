import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createOutput } from 'telemetry/output.ts';
import { describe, expect, it } from 'vitest';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { launcher } from '../../sandbox/state/directories.ts';

function setUp() {
  const written: string[] = [];
  const output = createOutput({ write: (lines) => void written.push(lines) });
  return { written, output };
}

describe('log lines', () => {
  it('of one turn of the event loop are written together at its end, in order', async () => {
    const { written, output } = setUp();
    output.write('a\n');
    await Promise.resolve();
    output.write('b\n');
    expect(written).toEqual([]);
    await nextTurn();
    expect(written).toEqual(['a\nb\n']);
  });

  it('of several turns are written in each of them', async () => {
    const { written, output } = setUp();
    for (const line of ['a\n', 'b\n']) {
      output.write(line);
      await nextTurn();
    }
    expect(written).toEqual(['a\n', 'b\n']);
  });

  it('are written at once on request, and once only', async () => {
    const { written, output } = setUp();
    output.write('a\n');
    output.flush();
    output.flush();
    expect(written).toEqual(['a\n']);
    output.write('b\n');
    await nextTurn();
    expect(written).toEqual(['a\n', 'b\n']);
  });

  it('do not accumulate in a long turn', () => {
    const { written, output } = setUp();
    const line = `${'x'.repeat(999)}\n`;
    for (let number = 0; number < 1_000; number += 1) output.write(line);
    output.flush();
    expect(written.join('')).toBe(line.repeat(1_000));
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(70_000);
  });
});

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
  ])('if it ends %s', async (_, end) => {
    expect(await writtenBy(end)).toEqual(['handled 1', 'handled 2']);
  });

  it('up to a warning, even if it is killed right after it', async () => {
    const [first, second, ...warning] = await writtenBy('kill');
    expect([first, second, warning.length]).toEqual(['handled 1', 'handled 2', 1]);
  });
});
