import { parseArgs } from 'node:util';
import { firstSeed } from '../support/seed.ts';
import { misfortunes } from './misfortunes.ts';
import { scenarios } from './scenarios/index.ts';
import type { Scenario } from './scenarios/scenario.ts';

export interface Options {
  readonly seeds: readonly number[];
  readonly sabotage: boolean;
  readonly atOnce: number;
  /** A file that lists the seeds in which nothing was found, or the sabotages that were found out; these are passed over. */
  readonly resume: string | undefined;
  readonly only: string;
  /** Names of what happens in each seed instead of what it draws. */
  readonly misfortunes: readonly string[] | undefined;
  readonly scenarios: readonly Scenario[] | undefined;
}

export const usage = `Usage: npm run chaos -- [--seeds N] [--seed S] [--sabotage] [--at-once N]
                        [--resume FILE] [--only TEXT] [--of NAME[,NAME…]]
       npm run chaos -- --scenario NAME[,NAME…] [--seed S]

  --seeds N     how many seeds of trouble the service has to stand, 5 unless
                said otherwise
  --seed S      the first of them; by default a number drawn from the hash of
                the commit, which is printed; the same seed sends the same
                messages into the same trouble
  --sabotage    services that are broken on purpose instead: each must be found
                out within ten seeds
  --at-once N   runs at the same time, 1 unless said otherwise; each spends most
                of its time waiting
  --resume FILE seeds, or sabotages, that the file lists are passed over; seeds
                in which nothing was found, and sabotages that were found out,
                are added to it. Of one commit: after a change, begin another
  --only TEXT   of the sabotages, those with this text in their names
  --of X        misfortunes that happen instead of those that a seed draws, each
                as often as it is named: "hub fails over,hub fails over,kill"
  --scenario X  courses of events that are written down instead, one after the
                other: all, or some of
${scenarios.map(({ name, about }) => `${name}: ${about}`.replaceAll(/(.{1,60})(?: |$)/g, '                $1\n')).join('')}`;

/**
 * @returns undefined when help is asked for
 * @throws Error that says what is wrong
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '5' },
      seed: { type: 'string', default: String(firstSeed()) },
      sabotage: { type: 'boolean', default: false },
      'at-once': { type: 'string', default: '1' },
      ...{ resume: { type: 'string' }, only: { type: 'string', default: '' }, scenario: { type: 'string' } },
      of: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const first = wholeNumber('--seed', values.seed, 0);
  const count = values.sabotage ? 10 : wholeNumber('--seeds', values.seeds, 1);
  const atOnce = wholeNumber('--at-once', values['at-once'], 1);
  return {
    seeds: Array.from({ length: count }, (_, index) => first + index),
    ...{ sabotage: values.sabotage, atOnce, resume: values.resume, only: values.only },
    misfortunes: values.of === undefined ? undefined : namesIn('--of', values.of, misfortunes).map(({ name }) => name),
    scenarios: values.scenario === undefined ? undefined : scenariosNamed(values.scenario),
  };
}

const scenariosNamed = (names: string) =>
  names === 'all' ? scenarios : namesIn('--scenario', names, scenarios, 'all');

function namesIn<T extends { readonly name: string }>(
  option: string,
  names: string,
  all: readonly T[],
  ...more: string[]
): T[] {
  return names.split(',').map((name) => {
    const found = all.find((one) => one.name === name);
    if (found !== undefined) return found;
    const known = [...more, ...all.map((one) => one.name)].join(', ');
    throw new Error(`${option} knows ${known}, not ${JSON.stringify(name)}`);
  });
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= least) return value;
  throw new Error(`${name} must be a whole number from ${least} on, not ${JSON.stringify(text)}`);
}
