import { setImmediate as nextTurn } from 'node:timers/promises';
import { createOutput } from 'telemetry/output.ts';
import { describe, expect, it } from 'vitest';

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
