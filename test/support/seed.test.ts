import fc from 'fast-check';
import { expect, it } from 'vitest';
import { firstSeed, firstSeeds, runs, saySeed } from './seed.ts';

const hash = 'aafd28844a8cfb1fcfa294a08fef2d4ab1d0c35a';

it('the seed is drawn from the hash of the commit, and from nothing else', () => {
  expect(firstSeed({}, () => hash)).toBe(0xaafd288);
  expect(firstSeed({ TEST_SEED: '' }, () => hash)).toBe(0xaafd288);
  expect(firstSeed({}, () => `b${hash.slice(1)}`)).toBe(0xbafd288);
});

it('without a commit it is 1, and a variable has precedence', () => {
  expect([firstSeed({}, () => undefined), firstSeed({ TEST_SEED: '20261122' }, () => hash)]).toEqual([1, 20_261_122]);
  for (const wrong of ['-1', 'many', '1234567890'])
    expect(() => firstSeed({ TEST_SEED: wrong }, () => hash)).toThrow('TEST_SEED');
});

it('random tests of a run begin with it, and say it when they fail', () => {
  expect(fc.readConfigureGlobal()?.seed).toBe(firstSeed());
  expect(() => fc.assert(fc.property(fc.nat(), () => false))).toThrow(`seed: ${firstSeed()}`);
  expect(firstSeeds(2)).toEqual([firstSeed(), firstSeed() + 1]);
  expect(saySeed(7)).toContain('TEST_SEED=7');
});

it('the usual number of runs can be raised', () => {
  expect([runs(200, {}), runs(200, { TEST_RUNS: '' }), runs(200, { TEST_RUNS: '1000' })]).toEqual([200, 200, 1_000]);
  for (const wrong of ['0', '-1', 'many']) expect(() => runs(200, { TEST_RUNS: wrong })).toThrow('TEST_RUNS');
});
