import { type Attribute, type Declaration, other } from './declaration.ts';
import { createSeries, type Series, type SeriesSet } from './series.ts';

/** The metrics of a program, by their names in OpenTelemetry. */
export type Declared = Readonly<Record<string, Declaration>>;

type Name<D extends Declared> = keyof D & string;

/** The names of all metrics of a kind. */
export type NameOf<D extends Declared, K extends Declaration['kind']> = {
  [N in Name<D>]: D[N]['kind'] extends K ? N : never;
}[Name<D>];

type Values<A extends readonly Attribute[]> = Extract<
  { -readonly [I in keyof A]: A[I] extends Attribute<infer V> ? V : never },
  string[]
>;

/** The values of a metric's attributes, in the order of their declaration. */
export type ValuesOf<D extends Declared, N extends Name<D>> = Values<D[N]['attributes']>;

type Observable<D extends Declared> = NameOf<D, 'counter' | 'gauge' | 'updowncounter'>;
type Observation<D extends Declared, N extends Name<D>> = readonly [value: number, ...values: ValuesOf<D, N>];

/** What the parts of a program record. A count costs a look-up, a duration a few comparisons more (D96). */
export interface Meter<D extends Declared> {
  /** @returns adds 1 for the values of the attributes */
  counter<N extends NameOf<D, 'counter'>>(name: N): (...values: ValuesOf<D, N>) => void;
  /** @returns records a value for those of the attributes; a negative one, from clocks that differ, counts as 0 */
  histogram<N extends NameOf<D, 'histogram'>>(name: N): (value: number, ...values: ValuesOf<D, N>) => void;
  /** The metric is read whenever metrics are collected. */
  observe<N extends Observable<D>>(name: N, read: () => Iterable<Observation<D, N>>): void;
}

/** What a collection finds. */
export interface Reading<N extends string = string> {
  readonly name: N;
  readonly declaration: Declaration;
  /** @throws what the read of an observed metric throws */
  read(): Iterable<Readonly<Series>>;
}

export interface MeterWithReadings<D extends Declared> extends Meter<D> {
  /** Every metric that is recorded. */
  readings(): readonly Reading<Name<D>>[];
  /** Sum of the series of a counter that begin with these values. */
  total(name: NameOf<D, 'counter'>, ...first: readonly string[]): number;
}

/** @param names those of the declared metrics that the program has */
export function createMeter<const D extends Declared>(
  declared: D,
  names: readonly Name<D>[] = Object.keys(declared),
): MeterWithReadings<D> {
  const recorded = new Map<string, SeriesSet>();
  const observed = new Map<string, () => Iterable<readonly [number, ...string[]]>>();
  const declarationOf = (name: Name<D>): Declaration => declared[name] as Declaration;

  function seriesOf(name: Name<D>): SeriesSet {
    const series = recorded.get(name) ?? createSeries(declarationOf(name));
    recorded.set(name, series);
    return series;
  }

  // Those that begin at 0, also when the part that counts does not exist yet.
  for (const name of names) if (declarationOf(name).kind === 'counter') seriesOf(name);

  function readerOf(name: Name<D>): Reading['read'] | undefined {
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
export const noMeter: Meter<Declared> = { counter: () => () => {}, histogram: () => () => {}, observe() {} };

/** The status of an HTTP response as the value of an attribute. */
export const statusValue = (status: number): string => (status >= 100 && status <= 599 ? String(status) : other);
