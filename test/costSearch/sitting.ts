import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { firstSeed } from '../support/seed.ts';
import type { Recipe } from './recipe.ts';

export interface Find {
  readonly recipe: Recipe;
  readonly share: number;
}

/** How far a search has come: another process goes on from there. */
export interface Sitting {
  readonly seed: number;
  readonly spentSeconds: number;
  readonly tried: number;
  /** Whether a message needed too many steps. */
  readonly hasExcess: boolean;
  readonly worst: Readonly<Record<string, Find>>;
}

const format = z.object({
  ...{ seed: z.int().min(0), spentSeconds: z.number().min(0), tried: z.int().min(0) },
  hasExcess: z.boolean(),
  worst: z.record(z.string(), z.object({ recipe: z.custom<Recipe>((value) => value !== null), share: z.number() })),
});

export const firstSitting = (seed: number): Sitting => ({
  ...{ seed, spentSeconds: 0, tried: 0, hasExcess: false, worst: {} },
});

/**
 * How far the search of a file has come; its beginning while there is no such file.
 * @param seed undefined: that of the file, or of the commit
 * @throws Error when the file is of a search with another seed, or of none
 */
function readSitting(file: string | undefined, seed: number | undefined): Sitting {
  if (file === undefined || !existsSync(file)) return firstSitting(seed ?? firstSeed());
  let sitting: Sitting;
  try {
    sitting = format.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new Error(`${file} is no file of a search`);
  }
  if (seed !== undefined && seed !== sitting.seed)
    throw new Error(`${file} is of a search with the seed ${sitting.seed}`);
  return sitting;
}

/** A search that is ended meanwhile leaves the file as it was. */
export function writeSitting(file: string, sitting: Sitting): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(sitting)}\n`);
  renameSync(`${file}.new`, file);
}

interface Options {
  readonly minutes: number;
  readonly sitting: Sitting;
  /** Where the search leaves how far it has come. */
  readonly resume: string | undefined;
}

export const usage = `Usage: npm run cost-search -- [--minutes N] [--seed S] [--resume FILE]

Looks for messages that cost more than they may: 25 times the least processor
time of a model.update of as many bytes, and a bound for each call and each KiB
of its answer.

  --minutes N   how long to look, 5 unless said otherwise
  --seed S      of the generated messages; by default a number drawn from the
                hash of the commit, which is printed
  --resume FILE the search goes on from where the file says that it was ended,
                with its seed and until all its sittings have taken N minutes,
                and leaves there how far it has come
`;

/**
 * @returns undefined when help is asked for
 * @throws Error that says what is wrong
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ minutes: { type: 'string', default: '5' }, seed: { type: 'string' }, resume: { type: 'string' } },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 1_440)) throw new Error('--minutes must be a number above 0');
  const { seed, resume } = values;
  if (seed !== undefined && !/^\d{1,9}$/.test(seed)) throw new Error('--seed must be a whole number');
  const sitting = readSitting(resume, seed === undefined ? undefined : Number(seed));
  return { minutes, sitting, resume };
}
