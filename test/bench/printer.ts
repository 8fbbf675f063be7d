import { type Absolute, type Goal, isKept, type Unit } from './row.ts';
import type { Figure } from './statistics.ts';
import type { Result, Workload } from './workloads/workload.ts';

/** The rows of a workload. */
export type Rows = Pick<Measured, 'workload' | 'rows'>;

/** What was measured. */
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

/** A Markdown table with a line for each row. */
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
export const absoluteLines = ({ absolute, notes }: Result): string[] => [...absolute.map(lineOf), ...notes];

function lineOf({ program, figures, limitedBy = [] }: Absolute): string {
  const words = figures.map(({ what, figure, unit }) => `${what} ${brief(figure.median)}${unit && ` ${unit}`}`);
  return `${program}: ${[...words, ...limitedBy.map((what) => `limited by ${what}`)].join(', ')}`;
}

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
