import type { Fault } from './faults.ts';

type Entry = Omit<Fault, 'file' | 'tests'>;

/** Faults of one file, which the same tests must notice. */
export const inFile = (file: string, tests: readonly string[], ...entries: readonly Entry[]): readonly Fault[] =>
  entries.map((entry) => ({ file, tests, ...entry }));
