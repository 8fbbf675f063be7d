import { type Declaration, other } from './declared/declaration.ts';
import { declarationOf, type MetricName, mainNames, type NameOf, type ValuesOf } from './metrics.ts';
import { createSeries, type Series, type SeriesSet } from './series.ts';

type Observable = NameOf<'counter' | 'gauge' | 'updowncounter'>;
type Observation<N extends MetricName> = readonly [value: number, ...values: ValuesOf<N>];

/** What the parts of a program record. A count costs a look-up, a duration a few comparisons more (D96). */
export interface Meter {
  /** @returns adds 1 for the values of the attributes */
  counter<N extends NameOf<'counter'>>(name: N): (...values: ValuesOf<N>) => void;
  /** @returns records a value for those of the attributes; a negative one, from clocks that differ, counts as 0 */
  histogram<N extends NameOf<'histogram'>>(name: N): (value: number, ...values: ValuesOf<N>) => void;
  /** The metric is read whenever metrics are collected. */
  observe<N extends Observable>(name: N, read: () => Iterable<Observation<N>>): void;
}

/** What a collection finds. */
export interface Reading {
  readonly name: MetricName;
  readonly declaration: Declaration;
  /** @throws what the read of an observed metric throws */
  read(): Iterable<Readonly<Series>>;
}

export interface MeterWithReadings extends Meter {
  /** Every metric that somebody records. */
  readings(): readonly Reading[];
  /** Sum of the series of a counter that begin with these values. */
  total(name: NameOf<'counter'>, ...first: readonly string[]): number;
}

/** @param names the metrics of the program, if it is not the main one */
export function createMeter(names: readonly MetricName[] = mainNames): MeterWithReadings {
  const recorded = new Map<MetricName, SeriesSet>();
  const observed = new Map<MetricName, () => Iterable<readonly [number, ...string[]]>>();

  function seriesOf(name: MetricName): SeriesSet {
    const series = recorded.get(name) ?? createSeries(declarationOf(name));
    recorded.set(name, series);
    return series;
  }

  // Those that begin at 0, also when the part that counts does not exist yet.
  for (const name of names) if (declarationOf(name).kind === 'counter') seriesOf(name);

  function readerOf(name: MetricName): Reading['read'] | undefined {
    const read = observed.get(name);
    if (read) return () => Array.from(read(), ([sum, ...values]) => ({ values, sum, count: 0, buckets: [] }));
    return recorded.get(name)?.all;
  }

  return {
    counter(name) {
      const series = seriesOf(name);
      return (...values) => {
        series.of(values).sum += 1;
      };
    },
    histogram(name) {
      const series = seriesOf(name);
      const { buckets: bounds } = declarationOf(name);
      return (given, ...values) => {
        const value = given > 0 ? given : 0;
        const one = series.of(values);
        let bucket = 0;
        while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
        one.buckets[bucket] = (one.buckets[bucket] ?? 0) + 1;
        one.count += 1;
        one.sum += value;
      };
    },
    observe(name, read) {
      observed.set(name, read);
    },
    readings: () =>
      names.flatMap((name) => {
        const read = readerOf(name);
        return read ? [{ name, declaration: declarationOf(name), read }] : [];
      }),
    total: (name, ...first) =>
      [...(recorded.get(name)?.all() ?? [])]
        .filter(({ values }) => first.every((value, index) => values[index] === value))
        .reduce((sum, series) => sum + series.sum, 0),
  };
}

/** Records nothing. */
export const noMeter: Meter = { counter: () => () => {}, histogram: () => () => {}, observe() {} };

/** The status of an HTTP response as the value of an attribute. */
export const statusValue = (status: number): string => (status >= 100 && status <= 599 ? String(status) : other);
