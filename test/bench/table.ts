import type { Figure } from './statistics.ts';
import type { Result, Workload } from './workloads/workload.ts';

/** What was measured, as the terminal and the documentation show it. */
export interface Measured extends Result {
  readonly workload: Pick<Workload, 'name' | 'about'>;
}

const number = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));

const shown = ({ median, low, high }: Figure, unit: string): string =>
  `${number(median)} ${unit}${low === high ? '' : ` (${number(low)}–${number(high)})`}`;

/** A Markdown table. */
export function tableOf(measured: readonly Measured[]): string {
  const rows = measured.flatMap(({ workload, rows }) =>
    rows.map(({ measure, figure, unit }) => [workload.name, measure, shown(figure, unit)]),
  );
  const all = [['workload', 'measure', 'median (range)'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = all;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join('\n');
}
