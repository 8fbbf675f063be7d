import type { Sabotage } from './sabotages.ts';

/** A run that may find a sabotage out. */
export interface Attempt {
  readonly seed: number;
  /** Without misfortunes, which is much shorter. */
  readonly isCalm: boolean;
}

/** A run in calm where that is said to be enough, and then the seeds, the likeliest first. */
export function attemptsAt(
  { seed: likely = 0, showsInCalm = false }: Pick<Sabotage, 'seed' | 'showsInCalm'>,
  seeds: readonly number[],
): Attempt[] {
  const inOrder = seeds.includes(likely) ? [likely, ...seeds.filter((seed) => seed !== likely)] : seeds;
  const calm = showsInCalm ? inOrder.slice(0, 1).map((seed) => ({ seed, isCalm: true })) : [];
  return [...calm, ...inOrder.map((seed) => ({ seed, isCalm: false }))];
}
