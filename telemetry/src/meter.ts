export interface Attribute<V extends string = string> {
  readonly key: string;
  readonly what: string;
  /** All values; `''` leaves the attribute out. Undefined when the values are known only at run time. */
  readonly values: readonly V[] | undefined;
}

type Kind = 'counter' | 'updowncounter' | 'gauge' | 'histogram';

/** A metric as data: `docs/metrics.md` is written from it. */
export interface Declaration<K extends Kind = Kind, A extends readonly Attribute[] = readonly Attribute[]> {
  readonly kind: K;
  /** In the notation of UCUM, as OpenTelemetry has it. */
  readonly unit: string;
  /** What it tells, as the help text of the metric. */
  readonly what: string;
  /** What an operator makes of it, with an alert where there is a reason for one. */
  readonly use: string;
  readonly attributes: A;
  /** Attributes that are the same on each point. */
  readonly constants: Readonly<Record<string, string>>;
  /** Upper bounds; of histograms only. */
  readonly buckets: readonly number[];
}

/** A metric by its kind and its unit, then by what it tells, what an operator makes of it, and its attributes. */
const declare =
  <const K extends Kind>(kind: K) =>
  (unit: string, constants: Declaration['constants'] = {}, buckets: readonly number[] = []) =>
  <const A extends readonly Attribute[] = readonly []>(
    what: string,
    use: string,
    attributes: A = [] as readonly Attribute[] as A,
  ): Declaration<K, A> => ({ kind, unit, what, use, attributes, constants, buckets });

export const counter = declare('counter');
export const updowncounter = declare('updowncounter');
export const gauge = declare('gauge');

/** Of durations in seconds. */
export const histogram = (buckets: readonly number[], constants?: Declaration['constants']) =>
  declare('histogram')('s', constants, buckets);

export function closed<const V extends string>(key: string, what: string, values: readonly V[]): Attribute<V> {
  return { key, what, values };
}

/** The values are known at run time; never a text that a device chooses. */
export const open = (key: string, what: string): Attribute => ({ key, what, values: undefined });

/** What stands for a value that is not in the set. */
export const other = '_OTHER';

/** One series: the number, or the histogram, for certain values of the attributes. */
export interface Series {
  readonly values: readonly string[];
  /** Of a histogram the sum; of any other the value. */
  sum: number;
  /** Of a histogram: how many values. */
  count: number;
  /** Of a histogram: how many in each bucket; the last one has no upper bound. */
  readonly buckets: number[];
}

/** A safeguard: the values are closed sets, so that this number is never reached (D97). */
export const mostSeries = 1_000;

/** Series of closed sets exist from the beginning, if there are not many: an alert needs the 0 before the first increase. */
const mostAtOnce = 20;

function createSeries({ kind, attributes, buckets }: Declaration) {
  const series = new Map<string, Series>();
  const rest = attributes.map(() => other);
  /** The series that was asked for last, which is often asked for again. */
  let latest: Series | undefined;

  function found(values: readonly string[]): Series {
    const key = values.length === 1 ? (values[0] as string) : values.join('\n');
    const known = series.get(key);
    if (known) return known;
    if (series.size >= mostSeries && values !== rest) return found(rest);
    const created = { values: [...values], sum: 0, count: 0, buckets: new Array(buckets.length + 1).fill(0) };
    series.set(key, created);
    return created;
  }

  if (kind === 'counter') {
    const combinations = attributes.reduce<readonly (readonly string[])[]>(
      (some, { values = [] }) => some.flatMap((begun) => values.map((value) => [...begun, value])),
      [[]],
    );
    if (combinations.length <= mostAtOnce) for (const values of combinations) found(values);
  }

  return {
    of(values: readonly string[]): Series {
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

/** The metrics of a program, by their names in OpenTelemetry. */
export type Declared = Readonly<Record<string, Declaration>>;

type Name<D extends Declared> = keyof D & string;

type NameOf<D extends Declared, K extends Kind> = { [N in Name<D>]: D[N]['kind'] extends K ? N : never }[Name<D>];

/** Of a metric's attributes, in the order of their declaration. */
type Values<A extends readonly Attribute[]> = Extract<
  { -readonly [I in keyof A]: A[I] extends Attribute<infer V> ? V : never },
  string[]
>;
type ValuesOf<D extends Declared, N extends Name<D>> = Values<D[N]['attributes']>;
type Observation<D extends Declared, N extends Name<D>> = readonly [value: number, ...values: ValuesOf<D, N>];

/** What a collection finds. */
export interface Reading<N extends string = string> {
  readonly name: N;
  readonly declaration: Declaration;
  /** @throws what the read of an observed metric throws */
  read(): Iterable<Readonly<Series>>;
}

export type MeterWithReadings<D extends Declared> = ReturnType<typeof createMeter<D>>;

/** What the parts of a program record. A count costs a look-up, a duration a few comparisons more (D96). */
export type Meter<D extends Declared> = Pick<MeterWithReadings<D>, 'counter' | 'histogram' | 'observe'>;

/** @param names those of the declared metrics that the program has */
export function createMeter<const D extends Declared>(declared: D, names: readonly Name<D>[] = Object.keys(declared)) {
  const recorded = new Map<string, ReturnType<typeof createSeries>>();
  const observed = new Map<string, Reading['read']>();
  const declarationOf = (name: Name<D>): Declaration => declared[name] as Declaration;

  function seriesOf(name: Name<D>) {
    const series = recorded.get(name) ?? createSeries(declarationOf(name));
    recorded.set(name, series);
    return series;
  }

  // Those that begin at 0, also when the part that counts does not exist yet.
  for (const name of names) if (declarationOf(name).kind === 'counter') seriesOf(name);

  return {
    /** @returns adds 1 for the values of the attributes */
    counter<N extends NameOf<D, 'counter'>>(name: N) {
      const series = seriesOf(name);
      return (...values: ValuesOf<D, N>): void => {
        series.of(values).sum += 1;
      };
    },
    /** @returns records a value for those of the attributes; a negative one, from clocks that differ, counts as 0 */
    histogram<N extends NameOf<D, 'histogram'>>(name: N) {
      const series = seriesOf(name);
      const { buckets: bounds } = declarationOf(name);
      return (given: number, ...values: ValuesOf<D, N>): void => {
        const value = given > 0 ? given : 0;
        const one = series.of(values);
        let bucket = 0;
        while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
        one.buckets[bucket] = (one.buckets[bucket] ?? 0) + 1;
        one.count += 1;
        one.sum += value;
      };
    },
    /** The metric is read whenever metrics are collected. */
    observe<N extends NameOf<D, Exclude<Kind, 'histogram'>>>(name: N, read: () => Iterable<Observation<D, N>>): void {
      observed.set(name, () => Array.from(read(), ([sum, ...values]) => ({ values, sum, count: 0, buckets: [] })));
    },
    readings: (): readonly Reading<Name<D>>[] =>
      names.flatMap((name) => {
        const read = observed.get(name) ?? recorded.get(name)?.all;
        return read ? [{ name, declaration: declarationOf(name), read }] : [];
      }),
    /** Sum of the series of a counter that begin with these values. */
    total: (name: NameOf<D, 'counter'>, ...first: readonly string[]): number =>
      [...(recorded.get(name)?.all() ?? [])]
        .filter(({ values }) => first.every((value, index) => values[index] === value))
        .reduce((sum, series) => sum + series.sum, 0),
  };
}

/** The attributes of a series, but for those that it leaves out. */
export function attributesOf({ attributes, constants }: Declaration, { values }: Readonly<Series>) {
  const own = attributes.map(({ key }, index) => [key, values[index] ?? ''] as const);
  return [...Object.entries(constants), ...own.filter(([, value]) => value !== '')];
}

/** The status of an HTTP response as the value of an attribute. */
export const statusValue = (status: number): string => (status >= 100 && status <= 599 ? String(status) : other);
