import { expect, it } from 'vitest';
import { attemptsAt } from './attempts.ts';

const seeds = [0, 1, 2];
const full = (...all: number[]) => all.map((seed) => ({ seed, isCalm: false }));

it('tries every seed, in order', () => {
  expect(attemptsAt({}, seeds)).toEqual(full(0, 1, 2));
});

it('tries the seed first that is likely to show a sabotage', () => {
  expect(attemptsAt({ seed: 1 }, seeds)).toEqual(full(1, 0, 2));
});

it('tries the seeds that are asked for when the likely one is not among them', () => {
  expect(attemptsAt({ seed: 1 }, [7, 8])).toEqual(full(7, 8));
});

it('tries one run in calm before all seeds where that is said to be enough', () => {
  expect(attemptsAt({ showsInCalm: true }, seeds)).toEqual([{ seed: 0, isCalm: true }, ...full(0, 1, 2)]);
});
