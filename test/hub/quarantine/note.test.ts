import { describe, expect, it } from 'vitest';
import { decodeNote, encodeNote, type Note, noteAtOpening } from '../../../src/hub/quarantine/note.ts';

const noteOf = (ends: number, upTo: number, more: Partial<Note> = {}): Note => ({
  ends,
  upTo,
  alone: undefined,
  trials: new Map(),
  ...more,
});

describe('a note', () => {
  it.each<[text: string, note: Note]>([
    ['1 1 42 - -', noteOf(1, 42)],
    ['1 2 42 17 -', noteOf(2, 42, { alone: 17 })],
    [
      '1 4 42 - 25:2,17:0',
      noteOf(4, 42, {
        trials: new Map([
          [25, 2],
          [17, 0],
        ]),
      }),
    ],
    ['1 1 -1 - -', noteOf(1, -1)],
  ])('is written as %s, and read back', (text, note) => {
    expect(encodeNote(note)).toBe(text);
    expect(decodeNote(text)).toEqual(note);
  });

  it.each([
    undefined,
    '',
    '1',
    '2 1 42 - -',
    '1 x 42 - -',
    '1 1 42 - 17',
    '1 1 42 - 17:1,',
    `1 1 42 - ${'9'.repeat(17)}:1`,
    '1 1 42 - - ',
  ])('is none when it says %j', (text) => expect(decodeNote(text)).toBeUndefined());

  it('stays short however many messages were tried, and keeps those that were alone at violent ends', () => {
    const trials = new Map(Array.from({ length: 500 }, (_, index) => [2 ** 53 - 1 - index, index === 400 ? 2 : 0]));
    const text = encodeNote(noteOf(9, 2 ** 53 - 1, { alone: 2 ** 53 - 1, trials }));
    expect(text.length).toBeLessThan(1_300);
    const read = decodeNote(text);
    expect(read?.trials.size).toBe(64);
    expect(read?.trials.get(2 ** 53 - 1 - 400)).toBe(2);
  });
});

describe('what is noted when a session begins', () => {
  const violently = { newest: 50, afterViolentEnd: true };
  const properly = { newest: 50, afterViolentEnd: false };

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
      'an end more for the message that was alone',
      noteOf(2, 40, {
        alone: 17,
        trials: new Map([
          [17, 1],
          [25, 0],
        ]),
      }),
      { position: 10, ...violently },
      noteOf(3, 50, {
        trials: new Map([
          [17, 2],
          [25, 0],
        ]),
      }),
    ],
    [
      'nothing of messages that are done since',
      noteOf(2, 40, {
        alone: 17,
        trials: new Map([
          [17, 1],
          [25, 1],
        ]),
      }),
      { position: 20, ...violently },
      noteOf(3, 50, { trials: new Map([[25, 1]]) }),
    ],
    [
      'the same as before, when the partition was given back',
      noteOf(2, 40),
      { position: 10, ...properly },
      noteOf(2, 40),
    ],
    [
      'that nobody is alone any more, when the partition was given back or kept',
      noteOf(2, 40, { alone: 17, trials: new Map([[25, 1]]) }),
      { position: 10, ...properly },
      noteOf(2, 40, { trials: new Map([[25, 1]]) }),
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
