import { setImmediate as nextTurn } from 'node:timers/promises';
import { createOutput } from '@device-messaging/telemetry/output.ts';
import { describe, expect, it, vi } from 'vitest';

function setUp() {
  const written: string[] = [];
  const take = (bytes: Uint8Array) => {
    written.push(String(bytes));
    return bytes.length;
  };
  const output = createOutput(take, () => {});
  return { written, output };
}

/** Of what reads `perStep` bytes in each step that the process waits; it has room for 64 KiB. */
function readBy(reader: { perStep: number; isGone?: boolean }) {
  let [text, room, now] = ['', 65_536, 0];
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.spyOn(Atomics, 'wait').mockImplementation((_cell, _index, _value, ms = 0) => {
    now += ms;
    room += reader.perStep;
    return 'timed-out';
  });
  function take(bytes: Uint8Array) {
    if (reader.isGone) throw new Error('EPIPE');
    const taken = Math.min(room, bytes.length);
    text += String(bytes.subarray(0, taken));
    room -= taken;
    return taken;
  }
  const output = createOutput(take, (lines) => output.write(`${lines} are missing\n`));
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `${from + index}`.padEnd(999, '.').concat('\n'));
  return {
    ...{ output, lines, write: (from: number, to: number) => lines(from, to).forEach(output.write) },
    ...{ text: () => text, waitedMs: () => now },
  };
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

  it('are all read in order by one that is slow, up to the end', () => {
    const { output, lines, write, text } = readBy({ perStep: 7_777 });
    write(0, 5_000);
    output.end();
    expect([text() === lines(0, 5_000).join(''), output.dropped()]).toEqual([true, 0]);
  });

  it('hold up for a second what writes them when nobody reads, once, and 1 MiB of them waits', async () => {
    const reader = { perStep: 0 };
    const { output, lines, write, text, waitedMs } = readBy(reader);
    write(0, 1_000);
    expect(waitedMs()).toBe(0);
    output.flush();
    expect(waitedMs()).toBe(1_000);
    write(1_000, 2_000);
    for (let times = 0; times < 100; times += 1) output.flush();
    const kept = 2_000 - output.dropped();
    expect([waitedMs(), Math.round((1_000 * kept - 65_536) / 2 ** 20)]).toEqual([1_000, 1]);
    reader.perStep = 1_000_000;
    output.end();
    write(2_000, 2_001);
    output.end();
    expect(text()).toBe([...lines(0, kept), `${2_000 - kept} are missing\n`, ...lines(2_000, 2_001)].join(''));
  });

  it('are counted when there is nobody to read them', async () => {
    const reader = { perStep: 0, isGone: true };
    const { output, lines, write, text, waitedMs } = readBy(reader);
    write(0, 1_000);
    output.flush();
    expect([output.dropped(), waitedMs()]).toEqual([1_000, 0]);
    reader.isGone = false;
    write(1_000, 1_001);
    output.flush();
    expect(text()).toBe(lines(1_000, 1_001).join(''));
  });
});
