import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Overrides where random tests and searches begin: a whole number of up to nine digits. */
export const seedVariable = 'TEST_SEED';

/** Overrides how many runs those random tests make that ask for it. */
const runsVariable = 'TEST_RUNS';

/** Of what is no clone of the repository, as the archive of a release. */
const withoutCommit = 1;

/**
 * Where random tests and searches begin: one commit always tries the same, and each commit something else.
 * @throws Error when the variable is no seed
 */
export function firstSeed(environment: NodeJS.ProcessEnv = process.env, hashOf = commitOf): number {
  const given = environment[seedVariable];
  if (given === undefined || given === '') {
    const hash = hashOf();
    return hash === undefined ? withoutCommit : seedOf(hash);
  }
  if (!/^\d{1,9}$/.test(given)) throw new Error(`${seedVariable} must be a whole number of up to nine digits`);
  return Number(given);
}

/** So many of them, for a test that is numbered. */
export const firstSeeds = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => firstSeed() + index);

/**
 * How many runs a random test makes: as many as usual, or as the variable says.
 * @throws Error when the variable is no number of runs
 */
export function runs(usual: number, environment: NodeJS.ProcessEnv = process.env): number {
  const given = environment[runsVariable] || String(usual);
  if (!/^[1-9]\d{0,6}$/.test(given)) throw new Error(`${runsVariable} must be a whole number above 0`);
  return Number(given);
}

/** In words, for those who want the same again. */
export const saySeed = (seed: number): string =>
  `seed ${seed}; the same again: --seed ${seed}, or ${seedVariable}=${seed}`;

/** Fewer digits than an option takes, so that there is room above it. */
const seedOf = (hash: string): number => Number.parseInt(hash.slice(0, 7), 16);

function commitOf(): string | undefined {
  try {
    const options = { cwd: join(import.meta.dirname, '../..'), encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync('git', ['rev-parse', 'HEAD'], options).trim();
  } catch {
    return undefined;
  }
}
