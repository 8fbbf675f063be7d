import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  completionBytes,
  decodeCompletion as decodeRuns,
  encodeCompletion,
  isIn,
  mapBytesFor,
  type Run,
  runsAbove,
} from '../../src/hub/partition/completionMap.ts';

const runsFrom = (watermark: number) =>
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 3_000 })), { maxLength: 40 })
    .map((pairs) => runsOf(watermark, pairs));

/** Each so many positions beyond the one before, and so many long. */
function runsOf(watermark: number, pairs: readonly [number, number][]): Run[] {
  let at = watermark;
  return pairs.map(([skipped, done]) => {
    const first = at + skipped + 1;
    at = first + done - 1;
    return { first, last: at };
  });
}

const decodeCompletion = (watermark: number, map: string) => {
  const runs = decodeRuns(watermark, map);
  return (sequenceNumber: number) => isIn(runs, sequenceNumber);
};

describe('the completion map', () => {
  it('is empty when nothing is done above the watermark', () => {
    expect(encodeCompletion(7, [], 100)).toBe('');
    expect(decodeCompletion(7, '')(8)).toBe(false);
  });

  it('says nothing of positions beyond it, however far', () => {
    const runs = [2, 4, 6, 8, 10].map((at) => ({ first: 100 + at, last: 100 + at }));
    const map = encodeCompletion(100, runs, 1000);
    expect(map.slice(0, 2)).toBe('1b');
    const isDone = decodeCompletion(100, map);
    expect([102, 102 + 2 ** 32, 102 + 2 ** 35].map(isDone)).toEqual([true, false, false]);
  });

  it('says of exactly the finished positions that they are done', () => {
    const watermark = fc.integer({ min: -1, max: 2 ** 40 });
    fc.assert(
      fc.property(
        watermark.chain((at) => fc.tuple(fc.constant(at), runsFrom(at))),
        ([at, runs]) => {
          const isDone = decodeCompletion(at, encodeCompletion(at, runs, Number.POSITIVE_INFINITY));
          for (const { first, last } of runs) {
            expect([isDone(first - 1), isDone(first), isDone(last), isDone(last + 1)]).toEqual([
              runs.some((one) => one.last === first - 1),
              true,
              true,
              runs.some((one) => one.first === last + 1),
            ]);
          }
          expect(isDone(at)).toBe(false);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('gives large maps back run by run, up to where they were cut', () => {
    const apart = fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 40_000 })), {
      minLength: 5_000,
      maxLength: 20_000,
    });
    const near = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 9 })), {
      minLength: 5_000,
      maxLength: 20_000,
    });
    fc.assert(
      fc.property(
        fc.integer({ min: -1, max: 2 ** 45 }),
        fc.oneof(apart, near),
        fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 0, max: 50_000 })),
        (watermark, pairs, maxBytes) => {
          const runs = runsOf(watermark, pairs);
          const enough = mapBytesFor(pairs.reduce((waiting, [skipped]) => waiting + skipped, 0));
          const map = encodeCompletion(watermark, runs, maxBytes);
          const read = decodeRuns(watermark, map);
          expect(Buffer.from(map.slice(2), 'base64url').length).toBeLessThanOrEqual(Math.min(maxBytes, enough));
          expect(read).toEqual(runs.slice(0, read.length));
          if (maxBytes >= enough) expect(read).toHaveLength(runs.length);
          const cut = runs[Math.floor(read.length / 2)]?.first ?? watermark;
          const above = runsAbove(read, cut);
          expect(above.every(({ first }) => first > cut)).toBe(true);
          expect(read.filter(({ last }) => last > cut).map(({ last }) => last)).toEqual(above.map(({ last }) => last));
        },
      ),
      { numRuns: 40, endOnFailure: true },
    );
  });

  it('is a bitmap when that is shorter, run lengths otherwise', () => {
    const everyOther = Array.from({ length: 100 }, (_, index) => ({ first: 2 + 2 * index, last: 2 + 2 * index }));
    expect(encodeCompletion(0, everyOther, 1000)).toMatch(/^1b/);
    expect(encodeCompletion(0, [{ first: 2, last: 1_000_000 }], 1000)).toMatch(/^1r.{4,8}$/);
    expect(completionBytes({ runs: everyOther.length, span: 200 })).toBe(25);
    expect(completionBytes({ runs: 1, span: 1_000_000 })).toBe(3);
  });

  it('forgets the farthest runs when there is no room for all', () => {
    const far = Array.from({ length: 100 }, (_, index) => ({ first: 1000 * (index + 1), last: 1000 * (index + 1) }));
    const isDone = decodeCompletion(0, encodeCompletion(0, far, 30));
    expect(far.map(({ first }) => isDone(first))).toEqual(far.map((_, index) => index < 10));
  });

  it.each(['2rAAAA', '1x', 'nonsense', '1r', '1b'])(
    'of another version or form (%s) says of nothing that it is done',
    (map) => {
      const isDone = decodeCompletion(0, map);
      expect(Array.from({ length: 50 }, (_, index) => isDone(index))).not.toContain(true);
    },
  );
});
