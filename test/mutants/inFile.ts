import type { Fault } from './faults.ts';

type Entry = Omit<Fault, 'file' | 'tests'>;

/** Faults of one file, which the same tests must notice. */
export const inFile = (file: string, tests: readonly string[], ...entries: readonly Entry[]): readonly Fault[] =>
  entries.map((entry) => ({ file, tests, ...entry }));

/** Only the tests with this in their title: these files take their time. */
export const only = (file: string, title: string) => [`test/hub/${file}.test.ts`, '-t', title];
