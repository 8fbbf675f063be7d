import { quantileOf } from '../../scripts/charts/series.ts';
import type { Sample } from './promText.ts';

/*
 * There is no Prometheus in the tests. Of PromQL, this knows the three forms that the table of questions has, and throws at any other:
 *
 *   metric{label="value"}
 *   max by (label, …) (metric{label="value"})                              also min, sum, count
 *   histogram_quantile(0.95, sum by (label, le) (rate(metric_bucket[5m])))
 */

const selector = String.raw`(\w+)(?:\{(\w+)="([^"]*)"\})?`;
const plain = new RegExp(`^${selector}$`);
const aggregated = new RegExp(String.raw`^(max|min|sum|count) by \(([\w, ]+)\) \(${selector}\)$`);
const quantile = /^histogram_quantile\(([\d.]+), sum by \(([\w, ]+)\) \(rate\((\w+)_bucket\[\w+\]\)\)\)$/;

const aggregations: Readonly<Record<string, (values: readonly number[]) => number>> = {
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  count: (values) => values.length,
};

/**
 * What a query says, by the values of its labels. `rate` is what was recorded between the two scrapes: a quantile does not depend
 * on the seconds between them.
 */
export function evaluate(
  query: string,
  before: readonly Sample[],
  now: readonly Sample[],
): ReadonlyMap<string, number> {
  const [, share, sharedLabels = '', histogram = ''] = quantile.exec(query) ?? [];
  if (share !== undefined) return quantiles(Number(share), namesIn(sharedLabels), histogram, { before, now });

  const [, how = '', labels = '', ...aggregatedSelector] = aggregated.exec(query) ?? [];
  const aggregation = aggregations[how];
  if (aggregation !== undefined) {
    const found = select(now, aggregatedSelector);
    const keyIn = (one: Sample) => keyOf(one, namesIn(labels));
    const valuesOf = (key: string) => found.filter((one) => keyIn(one) === key).map(({ value }) => value);
    return new Map([...new Set(found.map(keyIn))].map((key) => [key, aggregation(valuesOf(key))]));
  }

  const [whole, ...plainSelector] = plain.exec(query) ?? [];
  if (whole === undefined) throw new Error(`PromQL of another form: ${query}`);
  return new Map(select(now, plainSelector).map((one) => [keyOf(one, Object.keys(one.labels)), one.value]));
}

function quantiles(
  share: number,
  labels: readonly string[],
  name: string,
  { before, now }: { readonly before: readonly Sample[]; readonly now: readonly Sample[] },
): ReadonlyMap<string, number> {
  const own = labels.filter((label) => label !== 'le');
  const series = now.filter((one) => one.name === `${name}_bucket`);
  const groups = new Map(series.map((one) => [keyOf(one, own), one] as const));
  const scrapes = [before, now].map((samples, seconds) => ({ seconds, samples }));
  return new Map(
    [...groups].flatMap(([key, one]) => {
      const wanted = Object.fromEntries(own.map((label) => [label, one.labels[label] ?? '']));
      const [, last] = quantileOf(scrapes, { name, labels: wanted, quantile: share, window: 1 });
      return last?.[1] === undefined ? [] : [[key, last[1]] as const];
    }),
  );
}

const select = (samples: readonly Sample[], [name, label, value]: readonly (string | undefined)[]) =>
  samples.filter((one) => one.name === name && (label === undefined || one.labels[label] === value));

const namesIn = (list: string): string[] => list.split(/, */);

const keyOf = ({ labels }: Sample, names: readonly string[]): string =>
  names.map((name) => labels[name] ?? '').join(' ');
