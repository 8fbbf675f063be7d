import type { Absolute, Row } from '../row.ts';

export interface Context {
  /** Sizes scaled down, to see that everything works: V8 has not optimised the programs, so goals and slopes mean nothing. */
  readonly quick: boolean;
  /** Paired rounds. */
  readonly rounds: number;
  progress(what: string): void;
}

export interface Result {
  readonly rows: readonly Row[];
  /** What each program used. */
  readonly absolute: readonly Absolute[];
  /** What else a reader of the rows should know. */
  readonly notes: readonly string[];
}

export interface Workload {
  readonly name: string;
  readonly about: string;
  run(context: Context): Promise<Result>;
}
