import { describe, expect, it } from 'vitest';
import { folderOf, folderOfId, idOf } from '../../src/deadLetters/deadLetter.ts';
import { type DeadLetterLimits, excessOf } from '../../src/deadLetters/excess.ts';
import type { LetterInfo } from '../../src/deadLetters/letterStorage.ts';
import { letter } from '../support/letters.ts';

const roomy: DeadLetterLimits = {
  deviceLetters: 100,
  maxLetters: 100,
  deviceBytes: 10_000,
  maxBytes: 10_000,
  retentionMs: 10_000,
};

/** `a1 100 @5`: message 1 of device a, with 100 bytes (10 if not given), written at 5 (its number if not given). */
function entryOf(text: string): LetterInfo {
  const [, device = '', number = '', bytes = '10', at = number] = /^(\w)(\d+)(?: (\d+))?(?: @(\d+))?$/.exec(text) ?? [];
  return { id: idOf(letter(Number(number), { deviceId: device })), bytes: Number(bytes), at: Number(at) };
}

const names = new Map(['a', 'b', 'c', 'd'].map((device) => [folderOf(device), device]));
const nameOf = (id: string) => `${names.get(folderOfId(id))}${Number(id.slice(-16))}`;

interface Row {
  readonly it: string;
  readonly entries: readonly string[];
  readonly limits?: Partial<DeadLetterLimits>;
  readonly now?: number;
  readonly excess: readonly string[];
}

const rows: readonly Row[] = [
  { it: 'empty for no dead letters', entries: [], excess: [] },
  { it: 'empty within the limits', entries: ['a1', 'a2', 'b1'], excess: [] },
  { it: 'every dead letter older than the retention', entries: ['a1', 'a2', 'a3'], now: 10_002, excess: ['a1'] },
  {
    it: 'the oldest of a device beyond its number, however they are listed, and none of another',
    entries: ['a3', 'b1', 'a1', 'a4', 'a2'],
    limits: { deviceLetters: 2 },
    excess: ['a1', 'a2'],
  },
  {
    it: 'the oldest of a device beyond its bytes, and none of another',
    entries: ['a1 40', 'a2 40', 'a3 40', 'b1 90'],
    limits: { deviceBytes: 100 },
    excess: ['a1'],
  },
  {
    it: 'every dead letter older than one without room, even if it would fit',
    entries: ['a1 10', 'a2 80', 'a3 40'],
    limits: { deviceBytes: 100 },
    excess: ['a1', 'a2'],
  },
  {
    it: 'not the newest of a device, although it alone has more bytes than a device may have',
    entries: ['a1 10', 'a2 200'],
    limits: { deviceBytes: 100 },
    excess: ['a1'],
  },
  {
    it: 'the oldest of all beyond their number',
    entries: ['a1', 'b2', 'c3'],
    limits: { maxLetters: 2 },
    excess: ['a1'],
  },
  {
    it: 'the oldest of all beyond their bytes',
    entries: ['a1 40', 'b2 40', 'c3 40', 'd4 40'],
    limits: { maxBytes: 100 },
    excess: ['a1', 'b2'],
  },
  {
    it: 'none of the others for those that a device has beyond its number',
    entries: ['b1', 'a2', 'a3', 'a4', 'a5'],
    limits: { deviceLetters: 2, maxLetters: 3 },
    excess: ['a2', 'a3'],
  },
  {
    it: 'none of the others for those that a device has beyond its bytes',
    entries: ['b1 50', 'a2 60', 'a3 60', 'a4 60'],
    limits: { deviceBytes: 70, maxBytes: 120 },
    excess: ['a2', 'a3'],
  },
  {
    it: 'the oldest by the time of writing, not by the order of the hub',
    entries: ['a1 10 @9', 'a2 10 @5'],
    limits: { deviceLetters: 1 },
    excess: ['a2'],
  },
  {
    it: 'the earlier in the hub of two that were written at the same time',
    entries: ['a2 10 @5', 'a1 10 @5', 'a3 10 @5'],
    limits: { deviceLetters: 1 },
    excess: ['a1', 'a2'],
  },
  {
    it: 'the oldest of all when each device has only one',
    entries: ['a1 10 @1', 'b1 10 @2', 'c1 10 @3', 'd1 10 @4'],
    limits: { deviceLetters: 1, deviceBytes: 1, maxLetters: 3 },
    excess: ['a1'],
  },
];

describe('the excess of dead letters is', () => {
  it.each(rows.map((row) => [row.it, row] as const))('%s', (_, { entries, limits, now = 100, excess }) =>
    expect(excessOf(entries.map(entryOf), { ...roomy, ...limits }, now).map(nameOf)).toEqual(excess),
  );

  it('computed in one pass: the rest has none', () => {
    const limits = { deviceLetters: 5, maxLetters: 30, deviceBytes: 300, maxBytes: 1_500, retentionMs: 900 };
    const entries = Array.from({ length: 1_000 }, (_, n) => {
      return {
        id: idOf(letter(n, { deviceId: `d${(n * 7) % 23}` })),
        bytes: 1 + ((n * 37) % 120),
        at: (n * 13) % 1_000,
      };
    });
    const excess = new Set(excessOf(entries, limits, 1_000));
    const left = entries.filter(({ id }) => !excess.has(id));
    expect(left.length).toBeGreaterThan(20);
    expect(excessOf(left, limits, 1_000)).toEqual([]);
  });
});
