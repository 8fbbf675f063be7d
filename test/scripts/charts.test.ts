import { describe, expect, it } from 'vitest';
import { picturesOf } from '../../scripts/charts/pictures.ts';
import { highestOf, quantileOf, rateOf, type Scrape, spansWhere, valuesOf } from '../../scripts/charts/series.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { drawLineChart } from '../../scripts/svg/lineChart.ts';
import { mostLines } from '../../scripts/svg/style.ts';
import { declarationOf, namesIn } from '../../src/metrics/metrics.ts';
import { parseMetrics } from '../support/promText.ts';

const scrape = (seconds: number, text: string): Scrape => ({ seconds, samples: parseMetrics(text) });

describe('series from scrapes', () => {
  it('have the sum of a metric, its highest value, and a gap where it is missing', () => {
    const scrapes = [scrape(0, ''), scrape(1, 'lag{p="0"} 3\nlag{p="1"} 4')];
    expect(valuesOf(scrapes, 'lag')).toEqual([
      [0, undefined],
      [1, 7],
    ]);
    expect(valuesOf(scrapes, 'lag', { p: '1' })).toEqual([
      [0, undefined],
      [1, 4],
    ]);
    expect(highestOf(scrapes, 'lag')).toEqual([
      [0, undefined],
      [1, 4],
    ]);
  });

  it('have the increase of a counter a second, over the window', () => {
    const scrapes = [0, 1, 2, 4].map((seconds) => scrape(seconds, `n{c="a"} ${10 * seconds * seconds}\nn{c="b"} 99`));
    expect(rateOf(scrapes, 'n', { c: 'a' }, 2)).toEqual([
      [0, undefined],
      [1, undefined],
      [2, 20],
      [4, 60],
    ]);
    const begun = [scrape(0, ''), scrape(2, 'n{c="a"} 8')];
    expect(rateOf(begun, 'n', { c: 'a' }, 2)).toEqual([
      [0, undefined],
      [2, 4],
    ]);
  });

  it('have a quantile of the values in the window, interpolated within its bucket', () => {
    const buckets = (one: number, two: number, all: number) =>
      `d_bucket{b="x",le="1"} ${one}\nd_bucket{b="x",le="2"} ${two}\nd_bucket{b="x",le="+Inf"} ${all}\nd_bucket{b="y",le="1"} 999`;
    const scrapes = [
      scrape(0, buckets(100, 100, 100)),
      scrape(3, buckets(150, 200, 200)),
      scrape(6, buckets(150, 200, 200)),
      scrape(9, buckets(150, 200, 300)),
    ];
    const asked = { name: 'd', labels: { b: 'x' }, window: 3 };
    // Of 100 values 50 are up to 1, and 50 up to 2: the 95th is nine tenths of the way through the second bucket.
    const found = quantileOf(scrapes, { ...asked, quantile: 0.95 }).map(([, value]) => value);
    expect(found).toEqual([undefined, expect.closeTo(1.9, 9), undefined, 2]);
    expect(quantileOf(scrapes, { ...asked, quantile: 0.25 })[1]?.[1]).toBeCloseTo(0.5, 9);
  });

  it('have the times at which a value is not 0', () => {
    const points = [0, 1, 1, 0, undefined, 2].map((value, seconds) => [seconds, value] as const);
    expect(spansWhere(points)).toEqual([
      { from: 1, to: 3 },
      { from: 5, to: 5 },
    ]);
  });
});

it('the charts use existing metrics and draw their values', () => {
  const printed = namesIn.service.map(
    (name) => [prometheusNameOf(name, declarationOf(name)), declarationOf(name)] as const,
  );
  const text = (factor: number) =>
    printed
      .flatMap(([name, { kind, attributes, buckets }]) => {
        const labels = attributes.map(
          ({ key, values = ['x'] }) => `${key.replaceAll('.', '_')}="${values.find((one) => one !== '')}"`,
        );
        const of = (...more: string[]) => `{${[...labels, ...more].join(',')}}`;
        if (kind !== 'histogram') return [`${name}${of()} ${factor}`];
        return [...buckets, '+Inf'].map((bound) => `${name}_bucket${of(`le="${bound}"`)} ${factor}`);
      })
      .join('\n');
  const scrapes = Array.from({ length: 10 }, (_, index) => scrape(index, text(index)));
  const charts = Object.entries(picturesOf(scrapes, [{ label: 'trouble', from: 2, to: 4 }], 9));
  expect(charts.length).toBeGreaterThan(4);
  for (const [name, chart] of charts) {
    expect(chart.lines.length).toBeLessThanOrEqual(mostLines);
    const found = chart.lines.filter(({ points }) => points.some(([, value]) => value !== undefined));
    expect(found.length, name).toBeGreaterThan(0);
    expect(drawLineChart(chart)).not.toMatch(/NaN|undefined/);
  }
});
