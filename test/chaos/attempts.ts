import type { Sabotage } from './sabotages.ts';

export interface Attempt {
  readonly seed: number;
  /** Names of the misfortunes that happen instead of those of the seed. */
  readonly only?: readonly string[];
}

/** What is said to show the sabotage, in two seeds, which is much shorter, and then all the seeds as they are. */
export const attemptsAt = ({ showsIn }: Pick<Sabotage, 'showsIn'>, seeds: readonly number[]): Attempt[] => [
  ...seeds.slice(0, 2).map((seed) => ({ seed, only: showsIn })),
  ...seeds.map((seed) => ({ seed })),
];
