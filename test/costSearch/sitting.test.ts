import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createRandom } from '../chaos/random.ts';
import { firstSeed } from '../support/seed.ts';
import { newRecipe } from './recipe.ts';
import { resumedRandom } from './search.ts';
import { firstSitting, readOptions, readSitting, type Sitting, writeSitting } from './sitting.ts';

const folder = folderForEach('sitting');
const file = () => join(folder, 'search.json');
const sitting: Sitting = {
  ...{ seed: 7, spentSeconds: 61.5, draws: 1_234, tried: 99, hasExcess: true },
  worst: { 'model.create none': { recipe: newRecipe(createRandom(1)), share: 0.4 } },
};

it('a search goes on where it was ended, with its own seed', () => {
  expect(readSitting(file(), undefined, 5)).toEqual(firstSitting(5));
  writeSitting(file(), sitting);
  expect(readSitting(file(), undefined, 5)).toEqual(sitting);
  expect(readSitting(file(), 7, 5)).toEqual(sitting);
  expect(readSitting(undefined, 3, 5)).toEqual(firstSitting(3));
});

it('another seed, or what is no search, is refused', () => {
  writeSitting(file(), sitting);
  expect(() => readSitting(file(), 8, 5)).toThrow('is of a search with the seed 7');
  for (const text of ['', '{}', '{"seed":"7"}']) {
    writeFileSync(file(), text);
    expect(() => readSitting(file(), undefined, 5)).toThrow('is no file of a search');
  }
});

it('random numbers go on behind those that were drawn', () => {
  const whole = resumedRandom(7, 0);
  const first = Array.from({ length: 10 }, () => whole.random.between(0, 1_000));
  const rest = Array.from({ length: 5 }, () => whole.random.pick([1, 2, 3, 4, 5]));
  expect([first.length, whole.draws()]).toEqual([10, 15]);
  const resumed = resumedRandom(7, 10);
  expect([Array.from({ length: 5 }, () => resumed.random.pick([1, 2, 3, 4, 5])), resumed.draws()]).toEqual([rest, 15]);
});

it('the command takes a file, and a seed that is that of the commit otherwise', () => {
  expect(readOptions([])).toEqual({ minutes: 5, sitting: firstSitting(firstSeed()), resume: undefined });
  writeSitting(file(), sitting);
  expect(readOptions(['--resume', file(), '--minutes', '9'])).toEqual({ minutes: 9, sitting, resume: file() });
  expect(() => readOptions(['--resume', file(), '--seed', '8'])).toThrow('with the seed 7');
  expect(() => readOptions(['--seed', '-1'])).toThrow();
  expect(() => readOptions(['--minutes', '0'])).toThrow('--minutes');
});
