import { drawBarChart } from '../../scripts/svg/barChart.ts';
import type { Rows } from './printer.ts';

/** What a run has measured, and what to call it. */
export interface Run {
  readonly name: string;
  readonly measured: readonly Rows[];
}

/** What compares the service with itself when there is more of something. */
const grown = ['growth', 'partitions'];

/** The charts of the ratios, by file name: what the service costs beside others, and how that grows. */
export function chartsOf(runs: readonly Run[]): Readonly<Record<string, string>> {
  return {
    'bench.svg': ratiosOf(runs, 'The service beside others', (workload) => !grown.includes(workload)),
    'growth.svg': ratiosOf(runs, 'CPU of a message, as devices and partitions grow', (workload) =>
      grown.includes(workload),
    ),
  };
}

function ratiosOf(runs: readonly Run[], title: string, isShown: (workload: string) => boolean): string {
  const found = runs.map(({ measured }) => {
    const rows = measured.flatMap(({ workload, rows }) =>
      rows.filter(({ unit }) => unit === '×' && isShown(workload.name)).map((row) => ({ workload, ...row })),
    );
    return new Map(rows.map(({ workload, measure, figure }) => [`${workload.name}: ${measure}`, figure]));
  });
  const labels = [...new Set(found.flatMap((one) => [...one.keys()]))];
  return drawBarChart({
    title,
    unit: 'ratio: median, and range of the rounds',
    series: runs.map(({ name }) => name),
    rows: labels.map((label) => ({
      label,
      bars: found.map((one) => {
        const figure = one.get(label);
        return figure && { value: figure.median, low: figure.low, high: figure.high };
      }),
    })),
  });
}
