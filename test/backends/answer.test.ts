import { describe, expect, it, onTestFinished } from 'vitest';
import { readAnswer, sliceBytes } from '../../src/backends/sending.ts';
import { keysOf } from '../../src/protocol/json.ts';

const keys = keysOf(['x', 'end']);
const size = ({ end }: { readonly end: number }) => end;

function turns(): () => number {
  let had = 0;
  let next = setImmediate(function turn() {
    had += 1;
    next = setImmediate(turn);
  });
  onTestFinished(() => clearImmediate(next));
  return () => had;
}

describe('a large answer', () => {
  it.each([
    ['list', '[', '{"a":[1,2,3]},', '0]'],
    ['object', '{', '"a":{"b":[1,2]},', '"b":0}'],
    ['list of short values', '[', '1,', '0]'],
  ])('yields to other work after each 256 KiB of a %s', async (_what, open, unit, close) => {
    const text = `{"x":${open}${unit.repeat((4.5 * sliceBytes) / unit.length)}${close},"end":1}`;
    const had = turns();
    expect(await readAnswer(Buffer.from(text), { keys, result: size })).toBe(text.length);
    expect(had()).toBe(4);
  });

  it('is read at once up to 256 KiB, and in two slices beyond', async () => {
    const list = (bytes: number) => Buffer.from(`[ ${'1,'.repeat(bytes / 2 - 2)}1]`);
    const had = turns();
    expect(await readAnswer(list(sliceBytes), { keys, result: size })).toBe(sliceBytes);
    expect(had()).toBe(0);
    expect(await readAnswer(list(sliceBytes + 2), { keys, result: size })).toBe(sliceBytes + 2);
    expect(had()).toBe(1);
  });
});
