import { describe, expect, it } from 'vitest';
import {
  type CrashRecord,
  crashRecordAtOpening,
  decodeCrashRecord,
  encodeCrashRecord,
  type Suspicion,
} from '../../src/engine/crashRecord.ts';

const one: Suspicion = { isInWork: false, ends: 0 };
const suspects = (of: Readonly<Record<number, Partial<Suspicion>>>) => ({
  suspects: new Map(Object.entries(of).map(([number, known]) => [Number(number), { ...one, ...known }])),
});
const recordOf = (ends: number, upTo: number, more: Partial<CrashRecord> = {}): CrashRecord => ({
  ...{ ends, upTo, alone: undefined, suspects: new Map() },
  ...more,
});

describe('a crash record', () => {
  it.each<[text: string, record: CrashRecord]>([
    ['2 1 42 - -', recordOf(1, 42)],
    ['2 2 42 17 h+', recordOf(2, 42, { alone: 17, ...suspects({ 17: { isInWork: true } }) })],
    [
      '2 4 42 - 0,1+,h+:3,2:12',
      recordOf(4, 42, suspects({ 0: {}, 1: { isInWork: true }, 18: { isInWork: true, ends: 3 }, 20: { ends: 12 } })),
    ],
    ['2 1 -1 - -', recordOf(1, -1)],
  ])('is written as %s, and read back', (text, record) => {
    expect(encodeCrashRecord(record)).toBe(text);
    expect(decodeCrashRecord(text)).toEqual(record);
  });

  it('of 1.0 is read without what it says about slow ones, and those that are cleared', () =>
    expect(decodeCrashRecord('2 4 42 - h~,1+~:3,2.,1+.')).toEqual(
      recordOf(4, 42, suspects({ 17: {}, 18: { isInWork: true, ends: 3 } })),
    ));

  it.each([
    ...[undefined, '', '2', '1 1 42 - -', '2 x 42 - -', '2 1 42 - 17,', '2 1 42 - 17:', '2 1 42 - 17~+'],
    ...['2 1 42 - 17~.', '2 1 42 - ,17', `2 1 42 - ${'z'.repeat(12)}`, `2 1 42 - 1${',1'.repeat(4_000)}`],
    '2 1 42 - - ',
  ])('is invalid as %j', (text) => expect(decodeCrashRecord(text)).toBeUndefined());

  it('stays short enough for the properties of a blob, however many suspects there are', () => {
    const many = Array.from({ length: 2_000 }, (_, index): [number, Suspicion] => [
      2 ** 53 - 1 - 46_656 * index,
      { isInWork: true, ends: 9 },
    ]);
    const text = encodeCrashRecord(recordOf(9, 2 ** 53 - 1, { alone: 2 ** 53 - 1, suspects: new Map(many) }));
    expect(text.length).toBeLessThan(6_000);
    expect(decodeCrashRecord(text)?.suspects.size).toBe(500);
  });
});

describe('the crash record at the start of a session', () => {
  const isDone = (sequenceNumber: number) => sequenceNumber === 30;
  const unclean = { newest: 50, isDone, afterUncleanShutdown: true };
  const clean = { newest: 50, isDone, afterUncleanShutdown: false };

  it.each<
    [
      rule: string,
      before: CrashRecord | undefined,
      at: Parameters<typeof crashRecordAtOpening>[1],
      after: CrashRecord | undefined,
    ]
  >([
    ['no value after a clean start', undefined, { position: 10, ...clean }, undefined],
    ['the first unclean shutdown', undefined, { position: 10, ...unclean }, recordOf(1, 50)],
    ['no value when no message is unfinished', recordOf(1, 40), { position: 50, ...unclean }, undefined],
    ['the second shutdown, with the newest event', recordOf(1, 40), { position: 10, ...unclean }, recordOf(2, 50)],
    ['one more shutdown although the position moved', recordOf(4, 40), { position: 39, ...unclean }, recordOf(5, 50)],
    ['a first shutdown when all before it is done', recordOf(4, 40), { position: 40, ...unclean }, recordOf(1, 50)],
    [
      'the messages in progress at the shutdown, and one more shutdown for one in an isolated run; waiting ones are cleared',
      recordOf(2, 40, { alone: 17, ...suspects({ 17: { isInWork: true, ends: 1 }, 25: {}, 26: { ends: 1 } }) }),
      { position: 10, ...unclean },
      recordOf(3, 50, suspects({ 17: { ends: 2 }, 26: { ends: 1 } })),
    ],
    [
      'those that were blamed before when none was in progress',
      recordOf(2, 40, suspects({ 17: {}, 25: { ends: 1 } })),
      { position: 10, ...unclean },
      recordOf(3, 50, suspects({ 17: {}, 25: { ends: 1 } })),
    ],
    [
      'no message that has finished since, up to the position or above it',
      recordOf(2, 40, {
        alone: 30,
        ...suspects({ 17: { isInWork: true }, 20: { isInWork: true }, 25: { isInWork: true }, 30: { isInWork: true } }),
      }),
      { position: 20, ...unclean },
      recordOf(3, 50, suspects({ 25: {} })),
    ],
    ['the same value when the partition was released', recordOf(2, 40), { position: 10, ...clean }, recordOf(2, 40)],
    [
      'no message in progress when the partition was released or kept',
      recordOf(2, 40, { alone: 17, ...suspects({ 17: { isInWork: true }, 25: { ends: 1 } }) }),
      { position: 10, ...clean },
      recordOf(2, 40, suspects({ 17: {}, 25: { ends: 1 } })),
    ],
    [
      'no message in progress when the partition was released, also if none was alone',
      recordOf(2, 40, suspects({ 17: { isInWork: true }, 25: { isInWork: true, ends: 1 } })),
      { position: 10, ...clean },
      recordOf(2, 40, suspects({ 17: {}, 25: { ends: 1 } })),
    ],
    [
      'no message in progress when the partition was released, also if only some were',
      recordOf(2, 40, suspects({ 17: { isInWork: true }, 25: {} })),
      { position: 10, ...clean },
      recordOf(2, 40, suspects({ 17: {}, 25: {} })),
    ],
    [
      'no lone message when the partition was released, also if that one is unknown',
      recordOf(2, 40, { alone: 17, ...suspects({ 25: {} }) }),
      { position: 10, ...clean },
      recordOf(2, 40, suspects({ 25: {} })),
    ],
    [
      'the newest event at most when a damaged record names one that never comes',
      recordOf(9, 9_000_000_000_000_000),
      { position: 10, ...clean },
      recordOf(9, 50),
    ],
    ['no value when all is done and a bad record continues', recordOf(9, 90), { position: 50, ...clean }, undefined],
    ['no value of earlier messages', recordOf(2, 40), { position: 40, ...clean }, undefined],
  ])('has %s', (_rule, before, at, after) => expect(crashRecordAtOpening(before, at)).toEqual(after));

  it('is the same object when a released partition had no message in progress, so that it need not be written', () => {
    const before = recordOf(2, 40, suspects({ 17: {}, 26: { ends: 1 } }));
    expect(crashRecordAtOpening(before, { position: 10, ...clean })).toBe(before);
  });
});
