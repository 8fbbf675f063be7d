import { parseArgs } from 'node:util';

/** What is asked for on the command line. */
export interface Options {
  readonly minutes: number;
  readonly seed: number;
}

export const usage = `Usage: npm run cost-search -- [--minutes N] [--seed S]

Looks for messages that cost more than they may: 25 times the least processor
time of a model.update of as many bytes, and a bound for each call and each KiB
of its answer.

  --minutes N   how long to look, 5 unless said otherwise
  --seed S      of the generated messages; by default another one each time,
                which is printed
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
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 1_440)) throw new Error('--minutes must be a number above 0');
  const seed = Number(values.seed);
  if (!/^\d{1,9}$/.test(values.seed)) throw new Error('--seed must be a whole number');
  return { minutes, seed };
}
