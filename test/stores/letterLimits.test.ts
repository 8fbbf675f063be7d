import { describe, expect, it } from 'vitest';
import { folderOf, folderOfId, idOf, type LetterInfo } from '../../src/stores/deadLetter.ts';
import { type DeadLetterLimits, excessOf } from '../../src/stores/letterLimits.ts';
import { letter } from '../support/letters.ts';

const roomy: DeadLetterLimits = {
  ...{ deviceLetters: 100, maxLetters: 100 },
  ...{ deviceBytes: 10_000, maxBytes: 10_000, retentionMs: 10_000 },
};

/** `a1 100 @5`: message 1 of device a, with 100 bytes (10 if not given), written at 5 (its number if not given). */
function entryOf(text: string): LetterInfo {
  const [, device = '', number = '', bytes = '10', at = number] = /^(\w)(\d+)(?: (\d+))?(?: @(\d+))?$/.exec(text) ?? [];
  return { id: idOf(letter(Number(number), { deviceId: device })), bytes: Number(bytes), at: Number(at) };
}

const names = new Map(['a', 'b', 'c', 'd'].map((device) => [folderOf(device), device]));
const nameOf = (id: string) => `${names.get(folderOfId(id))}${Number(id.slice(-16))}`;

type Row = [what: string, entries: string, excess: string, limits: Partial<DeadLetterLimits>];

const rows: Row[] = [
  ['empty for no dead letters', '', '', {}],
  ['empty within the limits', 'a1, a2, b1', '', {}],
  ['every dead letter older than the retention', 'a1, a2, a3', 'a1', { retentionMs: 98 }],
  ['the oldest of a device beyond its number, in any order', 'a3, b1, a1, a4, a2', 'a1, a2', { deviceLetters: 2 }],
  ['the oldest of a device beyond its bytes', 'a1 40, a2 40, a3 40, b1 90', 'a1', { deviceBytes: 100 }],
  ['all older than one without room, even if they would fit', 'a1 10, a2 80, a3 40', 'a1, a2', { deviceBytes: 100 }],
  ['not the newest of a device, although it is too large', 'a1 10, a2 200', 'a1', { deviceBytes: 100 }],
  ['the oldest of all beyond their number', 'a1, b2, c3', 'a1', { maxLetters: 2 }],
  ['the oldest of all beyond their bytes', 'a1 40, b2 40, c3 40, d4 40', 'a1, b2', { maxBytes: 100 }],
  ['none of others by number', 'b1, a2, a3, a4, a5', 'a2, a3', { deviceLetters: 2, maxLetters: 3 }],
  ['none of others by bytes', 'b1 50, a2 60, a3 60, a4 60', 'a2, a3', { deviceBytes: 70, maxBytes: 120 }],
  ['the oldest by the time of writing, not by the hub', 'a1 10 @9, a2 10 @5', 'a2', { deviceLetters: 1 }],
  ['the earlier in the hub at the same time', 'a2 10 @5, a1 10 @5, a3 10 @5', 'a1, a2', { deviceLetters: 1 }],
  ['the oldest of one each', 'a1, b1 10 @2, c1 10 @3', 'a1', { deviceLetters: 1, deviceBytes: 1, maxLetters: 2 }],
];

const listed = (text: string) => text.split(', ').filter((one) => one !== '');

describe('the excess of dead letters is', () => {
  it.each(rows)('%s: of %s', (_, entries, excess, limits) =>
    expect(excessOf(listed(entries).map(entryOf), { ...roomy, ...limits }, 100).map(nameOf)).toEqual(listed(excess)),
  );

  it('computed in one pass: the rest has none', () => {
    const limits = { deviceLetters: 5, maxLetters: 30, deviceBytes: 300, maxBytes: 1_500, retentionMs: 900 };
    const entries = Array.from({ length: 1_000 }, (_, n) => ({
      id: idOf(letter(n, { deviceId: `d${(n * 7) % 23}` })),
      ...{ bytes: 1 + ((n * 37) % 120), at: (n * 13) % 1_000 },
    }));
    const excess = new Set(excessOf(entries, limits, 1_000));
    const left = entries.filter(({ id }) => !excess.has(id));
    expect(left.length).toBeGreaterThan(20);
    expect(excessOf(left, limits, 1_000)).toEqual([]);
  });
});
