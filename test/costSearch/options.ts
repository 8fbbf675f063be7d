import { parseArgs } from 'node:util';
import { firstSeed } from '../support/seed.ts';
import { readSitting, type Sitting } from './sitting.ts';

/** What is asked for on the command line. */
export interface Options {
  /** Those of earlier sittings included. */
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
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string' },
      resume: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 1_440)) throw new Error('--minutes must be a number above 0');
  const { seed, resume } = values;
  if (seed !== undefined && !/^\d{1,9}$/.test(seed)) throw new Error('--seed must be a whole number');
  const sitting = readSitting(resume, seed === undefined ? undefined : Number(seed), firstSeed());
  return { minutes, sitting, resume };
}
