import type { Absolute, Row } from '../figures.ts';

export interface Context {
  /** Sizes scaled down, to see that everything works: V8 has not optimised the programs, so goals and slopes mean nothing. */
  readonly quick: boolean;
  readonly rounds: number;
  progress(what: string): void;
}

export interface Result {
  readonly rows: readonly Row[];
  readonly absolute: readonly Absolute[];
  /** What else a reader of the rows should know. */
  readonly notes?: readonly string[];
}

/** What was measured of one build. The names have the units: `CPU, µs`. */
export type Measures = Readonly<Record<string, number>>;

export interface Subject {
  /** Each measurement starts the build: there is nothing to warm up, and one is enough for a round. */
  readonly isNewEachTime?: true;
  /** @param nth from 1 to `measurements`; 0 is the warm-up */
  measure(nth: number): Promise<Measures>;
  /** @throws Error when something is missing or wrong after so many measurements */
  check?(measurements: number): Promise<void>;
  close(): Promise<void>;
}

export const measurements = 2;

/**
 * Has a build begin.
 * @param build the folder of a checkout that is built
 */
export type Opener = (build: string) => Promise<Subject>;

/** Of a build that each measurement starts anew. */
export const anew =
  (measure: (build: string) => Promise<Measures>): Opener =>
  async (build) => ({ isNewEachTime: true, measure: () => measure(build), close: async () => {} });

export interface Workload {
  readonly name: string;
  readonly about: string;
  /** Measured from the start of a process on; else V8 has optimised what is measured. */
  readonly isCold?: true;
  run(context: Context): Promise<Result>;
  /** What `--vs` measures with two builds, by name; where there is one part only, its name is empty. Absent: it runs no build. */
  readonly versus?: (context: Context) => Readonly<Record<string, Opener>>;
}
