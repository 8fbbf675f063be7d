import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCompletion, encodeCompletion, isDone, type SequenceRange } from '../../src/engine/completionMap.ts';

/** Each so many sequence numbers beyond the one before, and so many long. */
function runsOf(position: number, pairs: readonly [number, number][]): SequenceRange[] {
  let at = position;
  return pairs.map(([skipped, done]) => {
    const first = at + skipped + 1;
    at = first + done - 1;
    return { first, last: at };
  });
}

const somePairs = fc.array(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 3_000 })), {
  maxLength: 40,
});
const somePosition = fc.integer({ min: -1, max: 2 ** 40 });
const isIn = (runs: readonly SequenceRange[]) => (one: number) =>
  runs.some(({ first, last }) => first <= one && one <= last);
const edgesOf = (runs: readonly SequenceRange[]) =>
  runs.flatMap(({ first, last }) => [first - 1, first, last, last + 1]);
const one = (sequenceNumber: number): SequenceRange => ({ first: sequenceNumber, last: sequenceNumber });

/** Answers of nothing that it is done when the map is not believed. */
const readMap = (position: number, map: string) => {
  const completion = decodeCompletion(position, map);
  return (sequenceNumber: number) => completion !== undefined && isDone(completion, sequenceNumber);
};

describe('the completion map', () => {
  it('is empty when no message is done above the position', () => {
    expect(encodeCompletion(7, [])).toBe('');
    expect(encodeCompletion(7, [], { position: 3, bits: Uint8Array.of(0b1111) })).toBe('');
  });

  it('has exactly the finished sequence numbers', () =>
    fc.assert(
      fc.property(somePosition, somePairs, (position, pairs) => {
        const runs = runsOf(position, pairs);
        const isFound = readMap(position, encodeCompletion(position, runs));
        const asked = [position - 1, position, ...edgesOf(runs), ...runs.map(({ last }) => last + 2 ** 35)];
        expect(asked.map(isFound)).toEqual(asked.map(isIn(runs)));
      }),
      { numRuns: 1000 },
    ));

  it('includes an earlier map above its own position', () =>
    fc.assert(
      fc.property(somePosition, somePairs, somePairs, fc.nat(3_000), (position, earlier, pairs, moved) => {
        const before = runsOf(position, earlier);
        const runs = runsOf(position + moved, pairs);
        const known = decodeCompletion(position, encodeCompletion(position, before));
        const isFound = readMap(position + moved, encodeCompletion(position + moved, runs, known));
        const asked = [...edgesOf(before), ...edgesOf(runs)];
        const isExpected = isIn([...before, ...runs]);
        expect(asked.map(isFound)).toEqual(asked.map((at) => at > position + moved && isExpected(at)));
      }),
      { numRuns: 1000 },
    ));

  it('covers 8 million sequence numbers above the position, and no more', () => {
    const reach = 8 * 1024 * 1024;
    const isFound = readMap(5, encodeCompletion(5, [one(7), { first: 5 + reach - 100, last: 5 + reach + 100 }]));
    const expected = [true, false, true, true, false];
    expect([7, 5 + reach - 101, 5 + reach - 100, 5 + reach, 5 + reach + 1].map(isFound)).toEqual(expected);
  });

  it('is valid for its own position only', () => {
    const map = encodeCompletion(41, [one(43)]);
    expect([40, 41, 42].map((position) => decodeCompletion(position, map) !== undefined)).toEqual([false, true, false]);
  });

  it('is invalid when a character is missing or changed', () => {
    const runs = runsOf(
      41,
      Array.from({ length: 40 }, (_, index) => [1 + (index % 7), 1 + ((index * index) % 23)]),
    );
    const map = encodeCompletion(41, runs);
    const damaged = Array.from(map, (_, at) => [
      map.slice(0, at) + map.slice(at + 1),
      map.slice(0, at),
      ...Array.from('0aZ_- ', (other) => map.slice(0, at) + other + map.slice(at + 1)),
    ]).flat();
    const believed = damaged.filter((text) => text !== map && decodeCompletion(41, text) !== undefined);
    expect(believed.map((text) => decodeCompletion(41, text))).toEqual(believed.map(() => decodeCompletion(41, map)));
    expect(believed.length).toBeLessThan(8); // the last character spells the same bytes in several ways
  });

  it.each(['1rAQI', '1bAQI', '3 41 eJwTAQAADQAL', 'nonsense', '2 41 ', '2 41 AAAA', ''])(
    'is invalid with another version or format (%s)',
    (map) => expect(decodeCompletion(41, map)).toBeUndefined(),
  );
  it('is not inflated beyond its largest size', () => {
    const bomb = deflateSync(Buffer.alloc(1024 * 1024 + 1, 255)).toString('base64url');
    expect(decodeCompletion(0, `2 0 ${bomb}`)).toBeUndefined();
  });
});
