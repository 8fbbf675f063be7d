export type Sample = Readonly<{ name: string; labels: Readonly<Record<string, string>>; value: number }>;

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/y;

/** @throws Error at a line that is not in the format, or a series that occurs twice */
export function parseMetrics(text: string): readonly Sample[] {
  const seen = new Set<string>();
  return text
    .split('\n')
    .filter((one) => one !== '' && !one.startsWith('#'))
    .map((one) => {
      const [, name = '', listed = '', value = ''] = line.exec(one) ?? [];
      const labels = labelsIn(listed);
      const series = `${name}{${listed}}`;
      const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
      if (name === '' || Number.isNaN(number) || seen.has(series)) throw new Error(`no line of metrics: ${one}`);
      seen.add(series);
      return { name, labels, value: number };
    });
}

function labelsIn(listed: string): Record<string, string> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < listed.length) {
    const [, key, value] = label.exec(listed) ?? [];
    if (key === undefined || value === undefined) throw new Error(`no labels: ${listed}`);
    labels[key] = value;
  }
  return labels;
}

/** Sum of the samples with this name and these labels; undefined when there is none. */
export function sampleOf(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = samples.filter(
    (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}

/*
 * There is no Prometheus in the tests. Of PromQL, this knows the four forms that the table of questions has, and throws at any other:
 *
 *   metric{label="value"}
 *   max by (label, …) (metric{label="value"})                              also min, sum, count
 *   histogram_quantile(0.95, sum by (label, le) (rate(metric_bucket[5m])))
 *   sum by (label, …) (rate(metric[5m]) * on (namespace, job, instance) group_left (label) info)
 */

const selector = String.raw`(\w+)(?:\{(\w+)="([^"]*)"\})?`;
const plain = new RegExp(`^${selector}$`);
const aggregated = new RegExp(String.raw`^(max|min|sum|count) by \(([\w, ]+)\) \(${selector}\)$`);
const quantile = /^histogram_quantile\(([\d.]+), sum by \(([\w, ]+)\) \(rate\((\w+)_bucket\[\w+\]\)\)\)$/;
const joined =
  /^sum by \(([\w, ]+)\) \(rate\((\w+)\[\w+\]\) \* on \(namespace, job, instance\) group_left \((\w+)\) (\w+)\)$/;

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

  const [, joinedLabels, counter = '', label = '', info = ''] = joined.exec(query) ?? [];
  if (joinedLabels !== undefined) return sums(namesIn(joinedLabels), counter, { label, info }, { before, now });

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

type Scrapes = Readonly<{ before: readonly Sample[]; now: readonly Sample[] }>;

/** The label comes from the other metric, of which one process has one series. */
function sums(
  labels: readonly string[],
  name: string,
  { label, info }: { readonly label: string; readonly info: string },
  { before, now }: Scrapes,
): ReadonlyMap<string, number> {
  const [of, ...others] = select(now, [info]);
  if (of === undefined || others.length > 0) throw new Error(`${info} is there ${others.length + (of ? 1 : 0)} times`);
  const all = (one: Sample) => keyOf(one, Object.keys(one.labels));
  const earlier = new Map(select(before, [name]).map((one) => [all(one), one.value]));
  const totals = new Map<string, number>();
  for (const one of select(now, [name])) {
    const key = keyOf({ ...one, labels: { ...one.labels, [label]: of.labels[label] ?? '' } }, labels);
    totals.set(key, (totals.get(key) ?? 0) + one.value - (earlier.get(all(one)) ?? 0));
  }
  return totals;
}

function quantiles(
  share: number,
  labels: readonly string[],
  name: string,
  { before, now }: Scrapes,
): ReadonlyMap<string, number> {
  const own = labels.filter((label) => label !== 'le');
  const series = now.filter((one) => one.name === `${name}_bucket`);
  const groups = new Map(series.map((one) => [keyOf(one, own), one] as const));
  return new Map(
    [...groups].flatMap(([key, one]) => {
      const wanted = Object.fromEntries(own.map((label) => [label, one.labels[label] ?? '']));
      const earlier = bucketsOf(before, name, wanted);
      const recorded = [...bucketsOf(now, name, wanted)]
        .map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)] as const)
        .toSorted(([one], [other]) => one - other);
      const value = quantileIn(recorded, share);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** Cumulative counts by upper bound, over all series with these labels. */
function bucketsOf(samples: readonly Sample[], name: string, labels: Sample['labels']): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket`) continue;
    if (Object.entries(labels).some(([key, value]) => sample.labels[key] !== value)) continue;
    const le = sample.labels['le'];
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    counts.set(bound, (counts.get(bound) ?? 0) + sample.value);
  }
  return counts;
}

/** Undefined when nothing was recorded. */
function quantileIn(cumulative: readonly (readonly [bound: number, count: number])[], quantile: number) {
  const total = cumulative.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  const rank = quantile * total;
  const index = cumulative.findIndex(([, count]) => count >= rank);
  const [lower, below] = cumulative[index - 1] ?? [0, 0];
  const [upper = 0, upTo = 0] = cumulative[index] ?? [];
  if (upper === Number.POSITIVE_INFINITY) return lower; // the largest bound: there is no better estimate
  return lower + ((upper - lower) * (rank - below)) / (upTo - below);
}

const select = (samples: readonly Sample[], [name, label, value]: readonly (string | undefined)[]) =>
  samples.filter((one) => one.name === name && (label === undefined || one.labels[label] === value));

const namesIn = (list: string): string[] => list.split(/, */);

const keyOf = ({ labels }: Sample, names: readonly string[]): string =>
  names.map((name) => labels[name] ?? '').join(' ');
