import type { Figure } from './statistics.ts';

export type Unit = '×' | 'ms' | 'MB' | 'MB/min' | 's' | '/s' | 'µs' | 'KB' | '%' | '';

/** What the median of a row should be; both bounds belong to it. */
export interface Goal {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** One line of the table: a measure of a workload, most often a ratio of two programs. */
export interface Row {
  readonly measure: string;
  readonly figure: Figure;
  /** `×` for a ratio. */
  readonly unit: Unit;
  readonly goal?: Goal;
}

/** What one program used in a workload. The machine's speed is in these figures: only ratios can be compared between runs. */
export interface Absolute {
  readonly program: string;
  readonly figures: readonly { readonly what: string; readonly figure: Figure; readonly unit: Unit }[];
  /** What makes the figures less than the program's own, in words. */
  readonly limitedBy?: readonly string[];
}

export const isKept = ({ figure: { median }, goal: { atLeast = -Infinity, atMost = Infinity } = {} }: Row): boolean =>
  median >= atLeast && median <= atMost;
