import { describe, expect, it } from 'vitest';
import {
  decodeNote,
  encodeNote,
  type Note,
  noteAtOpening,
  type Suspicion,
} from '../../../src/engine/quarantine/note.ts';

const one: Suspicion = { isInWork: false, isSlow: false, isCleared: false, ends: 0 };
const suspects = (of: Readonly<Record<number, Partial<Suspicion>>>) => ({
  suspects: new Map(
    Object.entries(of).map(([sequenceNumber, known]) => [Number(sequenceNumber), { ...one, ...known }]),
  ),
});
const noteOf = (ends: number, upTo: number, more: Partial<Note> = {}): Note => ({
  ends,
  upTo,
  alone: undefined,
  suspects: new Map(),
  ...more,
});

describe('a note', () => {
  it.each<[text: string, note: Note]>([
    ['2 1 42 - -', noteOf(1, 42)],
    ['2 2 42 17 h+', noteOf(2, 42, { alone: 17, ...suspects({ 17: { isInWork: true } }) })],
    [
      '2 4 42 - 0,1+,g~,1+~:3,2:12,1.,1+.',
      noteOf(4, 42, {
        ...suspects({
          0: {},
          1: { isInWork: true },
          17: { isSlow: true },
          18: { isInWork: true, isSlow: true, ends: 3 },
          20: { ends: 12 },
          21: { isSlow: true, isCleared: true },
          22: { isInWork: true, isSlow: true, isCleared: true },
        }),
      }),
    ],
    ['2 1 -1 - -', noteOf(1, -1)],
  ])('is written as %s, and read back', (text, note) => {
    expect(encodeNote(note)).toBe(text);
    expect(decodeNote(text)).toEqual(note);
  });

  it.each([
    undefined,
    '',
    '2',
    '1 1 42 - -',
    '2 x 42 - -',
    '2 1 42 - 17,',
    '2 1 42 - 17:',
    '2 1 42 - 17~+',
    '2 1 42 - 17~.',
    '2 1 42 - ,17',
    `2 1 42 - ${'z'.repeat(12)}`,
    `2 1 42 - 1${',1'.repeat(4_000)}`,
    '2 1 42 - - ',
  ])('is none when it says %j', (text) => expect(decodeNote(text)).toBeUndefined());

  it('stays short enough for the properties of a blob, however many suspects there are', () => {
    const many = Array.from({ length: 2_000 }, (_, index): [number, Suspicion] => [
      2 ** 53 - 1 - 46_656 * index,
      { isInWork: true, isSlow: true, isCleared: false, ends: 9 },
    ]);
    const text = encodeNote(noteOf(9, 2 ** 53 - 1, { alone: 2 ** 53 - 1, suspects: new Map(many) }));
    expect(text.length).toBeLessThan(6_000);
    expect(decodeNote(text)?.suspects.size).toBe(500);
  });

  it('omits cleared ones before others when there are too many', () => {
    const many = Array.from({ length: 600 }, (_, index): [number, Suspicion] => [
      index,
      { ...one, isSlow: true, isCleared: index < 300 },
    ]);
    const left = decodeNote(encodeNote(noteOf(3, 600, { suspects: new Map(many) })))?.suspects ?? new Map();
    expect([left.size, many.filter(([, { isCleared }]) => !isCleared).every(([number]) => left.has(number))]).toEqual([
      500,
      true,
    ]);
  });
});

describe('what is noted when a session begins', () => {
  const isDone = (sequenceNumber: number) => sequenceNumber === 30;
  const violently = { newest: 50, isDone, afterViolentEnd: true };
  const properly = { newest: 50, isDone, afterViolentEnd: false };

  it.each<[rule: string, before: Note | undefined, at: Parameters<typeof noteAtOpening>[1], after: Note | undefined]>([
    ['nothing in normal times', undefined, { position: 10, ...properly }, undefined],
    ['the first violent end', undefined, { position: 10, ...violently }, noteOf(1, 50)],
    ['nothing when nothing is unfinished', noteOf(1, 40), { position: 50, ...violently }, undefined],
    [
      'the second end, and how far the hub has come since',
      noteOf(1, 40),
      { position: 10, ...violently },
      noteOf(2, 50),
    ],
    [
      'one end more although the position has moved a little',
      noteOf(4, 40),
      { position: 39, ...violently },
      noteOf(5, 50),
    ],
    [
      'the first end, when all of the one before was done since',
      noteOf(4, 40),
      { position: 40, ...violently },
      noteOf(1, 50),
    ],
    [
      'who was in work at the end, and an end more for the one that was alone there; who waited is cleared',
      noteOf(2, 40, { alone: 17, ...suspects({ 17: { isInWork: true, ends: 1 }, 25: {}, 26: { ends: 1 } }) }),
      { position: 10, ...violently },
      noteOf(3, 50, suspects({ 17: { ends: 2 }, 26: { ends: 1 } })),
    ],
    [
      'that one is slow, though it waited and is cleared, until it is in work at an end',
      noteOf(2, 40, {
        ...suspects({
          17: { isInWork: true },
          25: { isSlow: true },
          26: { isSlow: true, isCleared: true },
          27: { isSlow: true, isCleared: true, isInWork: true },
        }),
      }),
      { position: 10, ...violently },
      noteOf(3, 50, {
        ...suspects({
          17: {},
          25: { isSlow: true, isCleared: true },
          26: { isSlow: true, isCleared: true },
          27: { isSlow: true },
        }),
      }),
    ],
    [
      'that one is cleared, when nobody was in work',
      noteOf(2, 40, suspects({ 17: {}, 25: { isSlow: true, isCleared: true } })),
      { position: 10, ...violently },
      noteOf(3, 50, suspects({ 17: {}, 25: { isSlow: true, isCleared: true } })),
    ],
    [
      'who waited, when nobody was in work',
      noteOf(2, 40, suspects({ 17: {}, 25: { isSlow: true } })),
      { position: 10, ...violently },
      noteOf(3, 50, suspects({ 17: {}, 25: { isSlow: true } })),
    ],
    [
      'nobody who has finished since, below the position or above it',
      noteOf(2, 40, {
        alone: 30,
        ...suspects({ 17: { isInWork: true }, 25: { isInWork: true }, 30: { isInWork: true } }),
      }),
      { position: 20, ...violently },
      noteOf(3, 50, suspects({ 25: {} })),
    ],
    [
      'the same as before, when the partition was given back',
      noteOf(2, 40),
      { position: 10, ...properly },
      noteOf(2, 40),
    ],
    [
      'that nobody is in work any more, when the partition was given back or kept',
      noteOf(2, 40, { alone: 17, ...suspects({ 17: { isInWork: true }, 25: { ends: 1 } }) }),
      { position: 10, ...properly },
      noteOf(2, 40, suspects({ 17: {}, 25: { ends: 1 } })),
    ],
    [
      'the newest event at most, when a damaged note names one that never comes',
      noteOf(9, 9_000_000_000_000_000),
      { position: 10, ...properly },
      noteOf(9, 50),
    ],
    ['nothing, when all is done and a damaged note goes on', noteOf(9, 90), { position: 50, ...properly }, undefined],
    ['nothing of what is past', noteOf(2, 40), { position: 40, ...properly }, undefined],
  ])('is %s', (_rule, before, at, after) => expect(noteAtOpening(before, at)).toEqual(after));
});
