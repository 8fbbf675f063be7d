import { type Sample, sampleOf } from '../../test/support/promText.ts';
import type { Point, Span } from '../svg/lineChart.ts';

/** What `/metrics` said at one time. */
export interface Scrape {
  /** Since the start of the run. */
  readonly seconds: number;
  readonly samples: readonly Sample[];
}

type Labels = Readonly<Record<string, string>>;

/** The sum of all series with these labels. */
export const valuesOf = (scrapes: readonly Scrape[], name: string, labels: Labels = {}): readonly Point[] =>
  scrapes.map(({ seconds, samples }) => [seconds, sampleOf(samples, name, labels)]);

/** The highest of all series of this name; undefined when there is none. */
export const highestOf = (scrapes: readonly Scrape[], name: string): readonly Point[] =>
  scrapes.map(({ seconds, samples }) => {
    const values = samples.filter((one) => one.name === name).map(({ value }) => value);
    return [seconds, values.length === 0 ? undefined : Math.max(...values)];
  });

/** Increase a second of a counter, over the window before each time: PromQL's `rate`. */
export function rateOf(scrapes: readonly Scrape[], name: string, labels: Labels, window: number): readonly Point[] {
  return scrapes.map((now) => {
    const before = scrapeBefore(scrapes, now.seconds - window);
    if (before === undefined) return [now.seconds, undefined];
    const increase = (sampleOf(now.samples, name, labels) ?? 0) - (sampleOf(before.samples, name, labels) ?? 0);
    return [now.seconds, increase / (now.seconds - before.seconds)];
  });
}

/** A quantile of what a histogram recorded in the window before each time, as PromQL's `histogram_quantile` has it. */
export function quantileOf(
  scrapes: readonly Scrape[],
  { name, labels, quantile, window }: { name: string; labels: Labels; quantile: number; window: number },
): readonly Point[] {
  return scrapes.map((now) => {
    const before = scrapeBefore(scrapes, now.seconds - window);
    if (before === undefined) return [now.seconds, undefined];
    const earlier = bucketsOf(before, name, labels);
    const buckets = [...bucketsOf(now, name, labels)]
      .map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)] as const)
      .toSorted(([one], [other]) => one - other);
    return [now.seconds, quantileIn(buckets, quantile)];
  });
}

/** The times at which the value is not 0. */
export function spansWhere(points: readonly Point[]): readonly Span[] {
  const spans: { from: number; to: number }[] = [];
  let isOpen = false;
  for (const [seconds, value = 0] of points) {
    const last = spans.at(-1);
    if (isOpen && last) last.to = seconds;
    else if (value !== 0) spans.push({ from: seconds, to: seconds });
    isOpen = value !== 0;
  }
  return spans;
}

/** The latest one at this time or before. */
const scrapeBefore = (scrapes: readonly Scrape[], seconds: number): Scrape | undefined =>
  scrapes.findLast((one) => one.seconds <= seconds);

/** Cumulative counts by upper bound, over all series with these labels. */
function bucketsOf({ samples }: Scrape, name: string, labels: Labels): ReadonlyMap<number, number> {
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
