import { expect, it, vi } from 'vitest';
import { createJoined } from '../../src/backends/joined.ts';

it('pieces are joined although the memory of each is reused', () => {
  const joined = createJoined();
  joined.add(Buffer.from('-'));
  const piece = Buffer.alloc(1);
  let text = '-';
  for (let index = 0; index < 100_000; index += 1) {
    piece[0] = 0x61 + (index % 26);
    text += piece.toString();
    joined.add(piece);
  }
  expect(joined.bytes().toString() === text).toBe(true);
  expect(joined.bytes().buffer.byteLength).toBeLessThan(2 * text.length + 16_384);
});

it('the only piece is not copied', () => {
  const joined = createJoined();
  const piece = Buffer.from('{}');
  joined.add(piece);
  expect(joined.bytes()).toBe(piece);
});

it('pieces of any size are joined, and no pieces make an empty buffer', () => {
  const joined = createJoined();
  expect(joined.bytes().length).toBe(0);
  const pieces = ['', 'a', 'b'.repeat(20_000), '', 'c'.repeat(20_000), 'd'];
  for (const piece of pieces) joined.add(Buffer.from(piece));
  expect(joined.bytes().toString()).toBe(pieces.join(''));
});

it('many small pieces need few buffers', () => {
  const allocated = vi.spyOn(Buffer, 'allocUnsafe');
  try {
    const joined = createJoined();
    for (let index = 0; index < 100_000; index += 1) joined.add(Buffer.from('a'));
    expect(allocated.mock.calls.length).toBeLessThan(10);
  } finally {
    allocated.mockRestore();
  }
});
