/** An attribute of a metric. */
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

interface Text {
  readonly unit: string;
  readonly what: string;
  readonly use: string;
  readonly constants?: Readonly<Record<string, string>>;
  readonly buckets?: readonly number[];
}

const declare =
  <const K extends Kind>(kind: K) =>
  <const A extends readonly Attribute[]>(text: Text, ...attributes: A): Declaration<K, A> => ({
    constants: {},
    buckets: [],
    ...text,
    kind,
    attributes,
  });

export const counter = declare('counter');
export const updowncounter = declare('updowncounter');
export const gauge = declare('gauge');
export const histogram = declare('histogram');

/** An attribute with a closed set of values. */
export const closed = <const V extends string>(key: string, what: string, values: readonly V[]): Attribute<V> => ({
  key,
  what,
  values,
});

/** An attribute whose values are known at run time; never a text that a device chooses. */
export const open = (key: string, what: string): Attribute => ({ key, what, values: undefined });

/** What stands for a value that is not in the set. */
export const other = '_OTHER';
