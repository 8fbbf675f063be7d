import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createRandom } from '../chaos/random.ts';
import { firstSeed } from '../support/seed.ts';
import { newRecipe } from './recipe.ts';
import { firstSitting, readOptions, type Sitting, writeSitting } from './sitting.ts';

const folder = folderForEach('sitting');
const file = () => join(folder, 'search.json');
const sitting: Sitting = {
  ...{ seed: 7, spentSeconds: 61.5, tried: 99, hasExcess: true },
  worst: { 'model.create none': { recipe: newRecipe(createRandom(1)), share: 0.4 } },
};

it('a search goes on where it was ended, with its own seed, or begins with that of the commit', () => {
  expect(readOptions([])).toEqual({ minutes: 5, sitting: firstSitting(firstSeed()), resume: undefined });
  expect(readOptions(['--resume', file(), '--seed', '3'])).toMatchObject({ sitting: firstSitting(3) });
  writeSitting(file(), sitting);
  expect(readOptions(['--resume', file(), '--minutes', '9'])).toEqual({ minutes: 9, sitting, resume: file() });
  expect(readOptions(['--resume', file(), '--seed', '7'])).toMatchObject({ sitting });
});

it('another seed, or what is no search, is refused', () => {
  writeSitting(file(), sitting);
  expect(() => readOptions(['--resume', file(), '--seed', '8'])).toThrow('is of a search with the seed 7');
  for (const text of ['', '{}', '{"seed":"7"}']) {
    writeFileSync(file(), text);
    expect(() => readOptions(['--resume', file()])).toThrow('is no file of a search');
  }
});
