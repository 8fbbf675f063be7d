import type { MeterWithReadings, MetricName } from '../../../src/observing/metrics.ts';
import { createProducer } from '../../../src/observing/otlpMetrics.ts';

/** The series of a metric: its number, of a histogram the sum, by its attributes: `code=ok generation=V2`. */
export type Points = Readonly<Record<string, number>>;

/** The points of an attribute, by its values: `by('result', { hit: 1 })` is `{ 'result=hit': 1 }`. */
export const by = (attribute: string, numbers: Points): Points =>
  Object.fromEntries(Object.entries(numbers).map(([value, number]) => [`${attribute}=${value}`, number]));

/** What the real parts of a program record of certain events. */
export interface Chapter {
  readonly points: Readonly<Partial<Record<MetricName, Points>>>;
  record(meter: MeterWithReadings): void | Promise<void>;
}

/** What a collector is told, but for the attributes that are the same on each point of a metric. */
export async function pointsOf(meter: MeterWithReadings): Promise<Record<string, Points>> {
  const { resourceMetrics, errors } = await createProducer({ meter, since: Date.now() }).collect();
  if (errors.length > 0) throw new AggregateError(errors);
  const constantsOf = new Map(meter.readings().map(({ name, declaration }) => [String(name), declaration.constants]));
  return Object.fromEntries(
    resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
      metrics.map(({ descriptor: { name }, dataPoints }) => {
        const constants = constantsOf.get(name) ?? {};
        const points = dataPoints.map(({ attributes, value }) => [
          shown(Object.entries(attributes).filter(([key, one]) => constants[key] !== one)),
          rounded(typeof value === 'number' ? value : (value.sum ?? Number.NaN)),
        ]);
        return [name, Object.fromEntries(points)] as const;
      }),
    ),
  );
}

/** `''` for a metric without attributes. */
const shown = (attributes: readonly (readonly [string, unknown])[]): string =>
  attributes.map(([key, value]) => `${shortKey(key)}=${value}`).join(' ');

export const shortKey = (key: string): string => key.replace(/^(device_messaging|messaging\.destination)\./, '');

/** Sums of durations, to the microsecond. */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

export async function times(count: number, work: () => unknown): Promise<void> {
  for (let done = 0; done < count; done += 1) await work();
}
