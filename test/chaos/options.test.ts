import { expect, it } from 'vitest';
import { firstSeeds } from '../support/seed.ts';
import { readOptions } from './options.ts';

it('the default is five seeds, from that of the commit on', () => {
  expect(readOptions([])).toEqual({ seeds: firstSeeds(5), sabotage: false, atOnce: 1, only: '' });
  expect(readOptions(['--seeds', '2', '--seed', '7'])?.seeds).toEqual([7, 8]);
});

it('each sabotage has ten seeds', () => {
  expect(readOptions(['--sabotage', '--seed', '3'])).toEqual({
    seeds: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    sabotage: true,
    atOnce: 1,
    only: '',
  });
});

it('an option continues the list in a file, or runs some sabotages only', () => {
  expect(readOptions(['--resume', 'clean.txt', '--only', 'spool'])).toMatchObject({
    resume: 'clean.txt',
    only: 'spool',
  });
});

it('a wrong argument is reported', () => {
  expect(() => readOptions(['--seeds', 'many'])).toThrow('--seeds must be a whole number from 1 on, not "many"');
  expect(() => readOptions(['--seeds', '0'])).toThrow('--seeds');
  expect(() => readOptions(['--seed=-1'])).toThrow('--seed');
  expect(() => readOptions(['--at-once', '0'])).toThrow('--at-once');
  expect(() => readOptions(['--sed', '1'])).toThrow('--sed');
  expect(readOptions(['--help'])).toBeUndefined();
});
