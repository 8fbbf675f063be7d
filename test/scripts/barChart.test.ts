import { describe, expect, it } from 'vitest';
import { type BarChart, drawBarChart } from '../../scripts/svg/barChart.ts';
import { mostLines } from '../../scripts/svg/style.ts';
import { chartsOf } from '../bench/charts.ts';

const bar = (value: number, low = value, high = value) => ({ value, low, high });
const chart: BarChart = {
  title: 'Costs <of> both',
  unit: 'times',
  series: ['before', 'now'],
  rows: [
    { label: 'one', bars: [bar(4, 3, 5), bar(2)] },
    { label: 'the other', bars: [undefined, bar(1)] },
  ],
};

/** Width of each bar of a series, in pixels. */
const widths = (svg: string, series: number): number[] =>
  [
    ...svg.matchAll(new RegExp(`<rect class="f${series}" x="320" y="[\\d.]+" width="([\\d.]+)" height="10"/>`, 'g')),
  ].map(([, width]) => Number(width));

describe('a bar chart', () => {
  const svg = drawBarChart(chart);

  it('is the same text for the same data', () => {
    expect(drawBarChart(structuredClone(chart))).toBe(svg);
  });

  it('has a bar of the length of each value, and none without a value', () => {
    expect(widths(svg, 0)).toEqual([392]);
    expect(widths(svg, 1)).toEqual([196, 98]);
  });

  it('shows the range of each value', () => {
    expect(svg).toMatch(/<path class="axis" d="M614 [\d.]+H810"\/>/);
  });

  it('escapes its texts', () => {
    expect(svg).toContain('Costs &#60;of&#62; both');
    for (const text of ['times', 'before', 'now', 'one', 'the other']) expect(svg).toContain(`>${text}</text>`);
  });

  it('has colours for light and dark pages', () => {
    for (let index = 0; index < mostLines; index += 1) {
      expect(svg.match(new RegExp(`\\.f${index}\\{fill:#\\w{6}`, 'g'))).toHaveLength(2);
    }
  });

  it('has only its axis without values', () => {
    expect(drawBarChart({ ...chart, rows: [] })).not.toMatch(/NaN|Infinity|undefined/);
  });
});

it('the ratios of two runs are drawn beside each other, those of growth in a separate chart', () => {
  const workload = (name: string) => ({ name, about: '' });
  const figure = (median: number) => ({ median, low: median, high: median, values: [median] });
  const run = (name: string, ratio: number) => ({
    name,
    measured: [
      {
        workload: workload('update'),
        rows: [
          { measure: 'CPU', figure: figure(ratio), unit: '×' as const },
          { measure: 'time', figure: figure(99), unit: 'ms' as const },
        ],
        notes: [],
      },
      {
        workload: workload('growth'),
        rows: [{ measure: 'CPU', figure: figure(1), unit: '×' as const }],
        notes: [],
      },
    ],
  });
  const charts = chartsOf([run('before', 4), run('now', 2)]);
  expect(Object.keys(charts)).toEqual(['bench.svg', 'growth.svg']);
  const [bench = '', growth = ''] = Object.values(charts);
  expect([widths(bench, 0), widths(bench, 1)]).toEqual([[490], [245]]);
  expect(bench).not.toContain('time');
  expect(growth).toContain('growth: CPU');
});
