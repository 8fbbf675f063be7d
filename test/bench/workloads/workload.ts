import type { Figure } from '../statistics.ts';

export interface Context {
  /** Sizes scaled down, so that all workloads together take less than three minutes. */
  readonly quick: boolean;
  /** Paired rounds. */
  readonly rounds: number;
  progress(what: string): void;
}

/** One measured figure. */
export interface Row {
  readonly measure: string;
  readonly figure: Figure;
  /** What we want it to be. */
  readonly aim?: string;
  /** `×` for a ratio. */
  readonly unit: '×' | 'ms' | 'MB' | 'MB/min' | 's' | '/s' | 'µs';
}

export interface Result {
  readonly rows: readonly Row[];
  /** What lies behind the rows, a line for each program. */
  readonly notes: readonly string[];
}

export interface Workload {
  readonly name: string;
  readonly about: string;
  run(context: Context): Promise<Result>;
}
