import type { Attribute, Declaration } from './declared/declaration.ts';
import { edgeMetrics } from './declared/edge.ts';
import { processMetrics } from './declared/process.ts';

/** Every metric of the edge proxy, by its name in OpenTelemetry. The names are an interface: dashboards and alerts use them (D95). */
const metrics = { ...edgeMetrics, ...processMetrics } as const;

export type MetricName = keyof typeof metrics;
type Metric<N extends MetricName> = (typeof metrics)[N];
type Kind = Declaration['kind'];

/** The names of all metrics of a kind. */
export type NameOf<K extends Kind> = { [N in MetricName]: Metric<N>['kind'] extends K ? N : never }[MetricName];

type Values<A extends readonly Attribute[]> = Extract<
  { -readonly [I in keyof A]: A[I] extends Attribute<infer V> ? V : never },
  string[]
>;

/** The values of a metric's attributes, in the order of their declaration. */
export type ValuesOf<N extends MetricName> = Values<Metric<N>['attributes']>;

export const mainNames = Object.keys(metrics) as MetricName[];

export const declarationOf = (name: MetricName): Declaration => metrics[name];
