import { type Misfortune, misfortunes } from './misfortunes.ts';
import { createRandom, type Random } from './random.ts';

/** What happens in a run, and when (milliseconds after its start). */
export interface Planned {
  readonly at: number;
  readonly misfortune: Misfortune;
  /** Decides how. Its own, so that it does not matter in which order things come to happen. */
  readonly random: Random;
}

/** Of each five seeds in a row, every one meets another fifth of the kinds, and some more by chance. */
export function plan(seed: number, random: Random, lastsMs: number): Planned[] {
  const certain = misfortunes.filter((_, index) => index % 5 === seed % 5);
  const more = Array.from({ length: 4 }, () => random.pick(misfortunes));
  return atTimes([...certain, ...more], random, lastsMs);
}

/** Those with these names, each as often as it is named, and early, while there is most to meet. */
export const planOnly = (names: readonly string[], random: Random, lastsMs: number): Planned[] =>
  atTimes(
    names.flatMap((wanted) => misfortunes.filter(({ name }) => name === wanted)),
    random,
    lastsMs / 4,
  );

const atTimes = (chosen: readonly Misfortune[], random: Random, lastsMs: number): Planned[] =>
  chosen
    .map((misfortune) => {
      const at = random.between(300, lastsMs);
      return { at, misfortune, random: createRandom(random.between(0, 2 ** 31)) };
    })
    .sort((a, b) => a.at - b.at);
