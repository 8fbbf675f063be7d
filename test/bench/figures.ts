import type { Result, Workload } from './workloads/workload.ts';

export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly values: readonly number[];
}

export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;

export function figure(values: readonly number[]): Figure {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = ascending.length >> 1;
  const median =
    ascending.length % 2 === 1
      ? (ascending[middle] ?? Number.NaN)
      : ((ascending[middle - 1] ?? Number.NaN) + (ascending[middle] ?? Number.NaN)) / 2;
  return { median, low: ascending[0] ?? Number.NaN, high: ascending.at(-1) ?? Number.NaN, values };
}

/** A ratio with bounds between which the true one lies with a probability of 95 %. */
export type Interval = Readonly<{ ratio: number; low: number; high: number }>;

/**
 * How two programs that were measured round by round differ: the geometric mean of the ratios of the rounds, with Student's
 * interval of their logarithms. NaN where something was 0, or there are fewer than `leastRounds`.
 */
export function pairedRatio(above: readonly number[], below: readonly number[]): Interval {
  const logs = above.map((value, index) => Math.log(value / (below[index] ?? Number.NaN)));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  const half = quantileOfT(logs.length - 1) * Math.sqrt(variance / logs.length);
  return { ratio: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}

export const leastRounds = 5;

/** The 97.5 % quantile of Student's distribution: the expansion of Cornish and Fisher, right to 0.001 from 4 degrees on. */
function quantileOfT(degrees: number): number {
  if (degrees < leastRounds - 1) return Number.NaN;
  const terms = [1.95996, 2.3723, 2.8225, 2.5558, 1.5895];
  return terms.reduce((sum, term, power) => sum + term / degrees ** power, 0);
}

/** Round by round: the machine's speed drifts, so only what was measured side by side is compared. */
export const ratios = (above: readonly number[], below: readonly number[]): Figure =>
  figure(above.map((value, index) => value / (below[index] ?? Number.NaN)));

export type Unit = '×' | 'ms' | 'MB' | 'MB/min' | 's' | '/s' | 'µs' | 'KB' | '%' | '';

/** What the median of a row should be; both bounds belong to it. */
export type Goal = Readonly<{ atLeast?: number; atMost?: number }>;

export interface Row {
  readonly measure: string;
  readonly figure: Figure;
  readonly unit: Unit;
  readonly goal?: Goal;
}

export const row = (measure: string, figure: Figure, unit: Unit, goal?: Goal): Row => ({
  ...{ measure, figure, unit },
  ...(goal && { goal }),
});

/** What one program used in a workload. The machine's speed is in these figures: only ratios can be compared between runs. */
export interface Absolute {
  readonly program: string;
  readonly figures: readonly { readonly what: string; readonly figure: Figure; readonly unit: Unit }[];
  /** What makes the figures less than the program's own, in words. */
  readonly limitedBy?: readonly string[];
}

/** What a program used: of each figure its rounds and its unit. */
export const used = (
  program: string,
  figures: Readonly<Record<string, readonly [rounds: readonly number[], unit: Unit]>>,
): Absolute => ({
  program,
  figures: Object.entries(figures).map(([what, [rounds, unit]]) => ({ what, figure: figure(rounds), unit })),
});

const isKept = ({ figure: { median }, goal: { atLeast = -Infinity, atMost = Infinity } = {} }: Row): boolean =>
  median >= atLeast && median <= atMost;

export type Rows = Pick<Measured, 'workload' | 'rows'>;

export interface Measured extends Result {
  readonly workload: Pick<Workload, 'name' | 'about'>;
}

export const number = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));

const shown = ({ median, low, high }: Figure, unit: Unit): string =>
  `${number(median)}${unit && ` ${unit}`}${low === high ? '' : ` (${number(low)}–${number(high)})`}`;

function goalOf({ atLeast, atMost }: Goal): string {
  if (atLeast === undefined) return `≤ ${atMost}`;
  return atMost === undefined ? `≥ ${atLeast}` : `${atLeast}–${atMost}`;
}

export const tableOf = (measured: readonly Rows[]): string =>
  markdown([
    ['workload', 'measure', 'median (range)', 'goal', ''],
    ...measured.flatMap(({ workload, rows }) =>
      rows.map((row) => [
        ...[workload.name, row.measure, shown(row.figure, row.unit)],
        ...[row.goal ? goalOf(row.goal) : '', isKept(row) ? '' : 'missed'],
      ]),
    ),
  ]);

/** What lies behind the rows of a workload: a line for each program. */
export const absoluteLines = ({ absolute }: Result): string[] =>
  absolute.map(({ program, figures, limitedBy = [] }) => {
    const words = figures.map(({ what, figure, unit }) => `${what} ${brief(figure.median)}${unit && ` ${unit}`}`);
    return `${program}: ${[...words, ...limitedBy.map((what) => `limited by ${what}`)].join(', ')}`;
  });

const brief = (value: number): string => (Math.abs(value) >= 10 ? value.toFixed(0) : value.toFixed(2));

export function markdown(lines: readonly (readonly string[])[]): string {
  const [head = [], ...body] = lines;
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join('\n');
}

/** JSON in which an object that is a figure with its rounds, or no deeper than one with a figure, is one line. */
export function jsonLines(value: unknown, indent = ''): string {
  const isList = Array.isArray(value);
  if (levels(value) <= (isList ? 1 : 3)) return JSON.stringify(value, undefined, 1).replace(/\n\s*/g, ' ');
  const inner = `${indent}  `;
  const lines = Object.entries(value as object).map(
    ([key, one]) => `${inner}${isList ? '' : `${JSON.stringify(key)}: `}${jsonLines(one, inner)}`,
  );
  const [open, close] = isList ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

const levels = (value: unknown): number =>
  value !== null && typeof value === 'object' ? 1 + Math.max(0, ...Object.values(value).map(levels)) : 0;
