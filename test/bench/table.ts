import type { Figure } from './statistics.ts';
import type { Result, Workload } from './workloads/workload.ts';

/** What was measured, as the terminal and the documentation show it. */
export interface Measured extends Result {
  readonly workload: Pick<Workload, 'name' | 'about'>;
}

const number = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));

const shown = ({ median, low, high }: Figure, unit: string): string =>
  `${number(median)} ${unit}${low === high ? '' : ` (${number(low)}–${number(high)})`}`;

/** A Markdown table, with the figures of an earlier run beside these. */
export function tableOf(measured: readonly Measured[], before?: readonly Measured[]): string {
  const earlier = new Map(rowsOf(before ?? []).map(({ workload, measure, ...row }) => [`${workload} ${measure}`, row]));
  const all = [
    ['workload', 'measure', ...(before ? ['before'] : []), before ? 'now' : 'median (range)', 'aim'],
    ...rowsOf(measured).map(({ workload, measure, figure, unit, aim = '' }) => {
      const old = earlier.get(`${workload} ${measure}`);
      const figures = [...(before ? [old ? shown(old.figure, old.unit) : ''] : []), shown(figure, unit)];
      return [workload, measure, ...figures, aim];
    }),
  ];
  const [head = [], ...body] = all;
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join('\n');
}

const rowsOf = (measured: readonly Measured[]) =>
  measured.flatMap(({ workload, rows }) => rows.map((row) => ({ workload: workload.name, ...row })));
