import { type Declaration, other } from './declaration.ts';

/** One series: the number, or the histogram, for certain values of the attributes. */
export interface Series {
  readonly values: readonly string[];
  /** Of a counter its value, of a histogram the sum. */
  sum: number;
  /** Of a histogram: how many values. */
  count: number;
  /** Of a histogram: how many in each bucket; the last one has no upper bound. */
  readonly buckets: number[];
}

/** The series of one metric. */
export interface SeriesSet {
  of(values: readonly string[]): Series;
  all(): Iterable<Series>;
}

/** A safeguard: the values are closed sets, so that this number is never reached (D97). */
export const mostSeries = 1_000;

/** Series of closed sets exist from the beginning, if there are not many: an alert needs the 0 before the first increase. */
const mostAtOnce = 20;

export function createSeries({ kind, attributes, buckets }: Declaration): SeriesSet {
  const series = new Map<string, Series>();
  const rest = attributes.map(() => other);
  /** The series that was asked for last, which is often asked for again. */
  let latest: Series | undefined;

  function added(key: string, values: readonly string[]): Series {
    if (series.size >= mostSeries && values !== rest) return found(rest);
    const created = { values: [...values], sum: 0, count: 0, buckets: new Array(buckets.length + 1).fill(0) };
    series.set(key, created);
    return created;
  }

  function found(values: readonly string[]): Series {
    const key = values.length === 1 ? (values[0] as string) : values.join('\n');
    return series.get(key) ?? added(key, values);
  }

  if (kind === 'counter') {
    const combinations = attributes.reduce<readonly (readonly string[])[]>(
      (some, { values = [] }) => some.flatMap((begun) => values.map((value) => [...begun, value])),
      [[]],
    );
    if (combinations.length <= mostAtOnce) for (const values of combinations) found(values);
  }

  return {
    of(values) {
      if (latest === undefined || !isFor(latest, values)) latest = found(values);
      return latest;
    },
    all: () => series.values(),
  };
}

function isFor({ values: own }: Series, values: readonly string[]): boolean {
  for (let index = 0; index < own.length; index += 1) if (own[index] !== values[index]) return false;
  return true;
}
