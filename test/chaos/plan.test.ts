import { describe, expect, it } from 'vitest';
import { misfortunes } from './misfortunes.ts';
import { plan } from './plan.ts';
import { createRandom } from './random.ts';

const kinds = misfortunes.map(({ name }) => name);
const planOf = (seed: number) => plan(seed, createRandom(seed), 6_000);
const namesOf = (seed: number) => planOf(seed).map(({ misfortune }) => misfortune.name);

describe('The plan of misfortunes', () => {
  it.each([0, 1, 2, 3, 4, 17, 998])('has every kind in five seeds from %i on', (first) => {
    const met = new Set([0, 1, 2, 3, 4].flatMap((more) => namesOf(first + more)));
    expect(kinds.filter((kind) => !met.has(kind))).toEqual([]);
  });
  it('is the same for the same seed, and different for another seed', () => {
    const timesOf = (seed: number) => planOf(seed).map(({ at, random }) => [at, random.next()]);
    expect(timesOf(7)).toEqual(timesOf(7));
    expect(timesOf(7)).not.toEqual(timesOf(8));
  });
});
