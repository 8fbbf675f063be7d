import { type HrTime, ValueType } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Declaration } from 'telemetry/declaration.ts';
import type { Reading } from 'telemetry/meter.ts';
import type { Series } from 'telemetry/series.ts';
import type { MeterWithReadings } from './meter.ts';

const scope = { name: 'device-messaging' };

/** What is reported. */
export interface Report {
  readonly meter: Pick<MeterWithReadings, 'readings'>;
  /** When counting began, in ms since 1970. */
  readonly since: number;
}

/**
 * Gives the readings of the meter to the readers of OpenTelemetry's SDK. Its own instruments are not used: they
 * serialise the attributes at each record, and report series that are no longer observed (D96).
 */
export function createProducer({ meter, since }: Report): MetricProducer {
  const startTime = hrTimeOf(since);
  const resource = emptyResource(); // the readers use that of the provider

  return {
    async collect() {
      const endTime = hrTimeOf(Math.max(since, Date.now())); // the clock can be set back
      const errors: unknown[] = [];
      const metrics = meter.readings().flatMap((reading) => {
        try {
          return dataOf(reading, startTime, endTime);
        } catch (error) {
          errors.push(error); // the other metrics are reported all the same
          return [];
        }
      });
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors };
    },
  };
}

function dataOf({ name, declaration, read }: Reading, startTime: HrTime, endTime: HrTime): MetricData[] {
  const { kind, unit, what: description } = declaration;
  const pointOf = <V>(series: Readonly<Series>, value: V): DataPoint<V> => ({
    startTime,
    endTime,
    attributes: attributesOf(declaration, series.values),
    value,
  });
  const series = [...read()];
  if (series.length === 0) return [];
  const descriptor = {
    name,
    description,
    unit,
    valueType: /^(\{\w+\}|By)$/.test(unit) ? ValueType.INT : ValueType.DOUBLE,
  };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  if (kind === 'histogram') {
    const boundaries = [...declaration.buckets];
    const dataPoints = series.map((one) => {
      const { sum, count, buckets } = one;
      return pointOf(one, { buckets: { boundaries, counts: [...buckets] }, sum, count });
    });
    return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
  }
  const dataPoints = series.map((one) => pointOf(one, one.sum));
  if (kind === 'gauge') return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }];
  return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: kind === 'counter', dataPoints }];
}

function attributesOf({ attributes, constants }: Declaration, values: readonly string[]): Record<string, string> {
  const own: Record<string, string> = { ...constants };
  for (const [index, { key }] of attributes.entries()) {
    const value = values[index] ?? '';
    if (value !== '') own[key] = value;
  }
  return own;
}

const hrTimeOf = (ms: number): HrTime => [Math.floor(ms / 1000), (ms % 1000) * 1e6];
