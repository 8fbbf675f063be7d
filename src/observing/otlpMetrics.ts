import { attributesOf, type Reading, type Series } from '@device-messaging/telemetry/meter.ts';
import { type HrTime, ValueType } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { emptyResource, type Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { collectorAgent, type metricsWanted } from './traces.ts';

/** `since`: when counting began, in ms since 1970. */
type Report = { readonly meter: { readings(): readonly Reading[] }; readonly since: number };

/** Sends metrics to a collector at intervals (OTLP over HTTP, JSON); only then this file is loaded. @returns sends the last values, and ends */
export function sendToCollector(
  report: Report,
  resource: Resource,
  { collector, intervalMs, timeoutMs }: ReturnType<typeof metricsWanted>,
  exported: (error?: Error) => void,
): () => Promise<void> {
  const exporter = new OTLPMetricExporter(collectorAgent(collector));
  const send = exporter.export.bind(exporter);
  exporter.export = (metrics, done) =>
    send(metrics, (result) => {
      exported(result.error); // the exporter tells nobody but its caller
      done(result);
    });
  const times = { exportIntervalMillis: intervalMs, exportTimeoutMillis: timeoutMs };
  const reader = new PeriodicExportingMetricReader({ exporter, ...times, metricProducers: [createProducer(report)] });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return () => provider.shutdown();
}

const scope = { name: 'device-messaging' };

/** Our readings for OpenTelemetry's readers: its instruments serialise attributes at each record, and keep what is no longer observed (D96). */
export function createProducer({ meter, since }: Report): MetricProducer {
  const startTime = hrTimeOf(since);
  const resource = emptyResource(); // the readers use that of the provider

  return {
    async collect() {
      const endTime = hrTimeOf(Math.max(since, Date.now())); // the clock can be set back
      const errors: unknown[] = [];
      const metrics = meter.readings().flatMap((reading) => {
        try {
          return dataOf(reading, { startTime, endTime });
        } catch (error) {
          errors.push(error); // the other metrics are reported all the same
          return [];
        }
      });
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors };
    },
  };
}

function dataOf({ name, declaration, read }: Reading, times: Record<'startTime' | 'endTime', HrTime>): MetricData[] {
  const { kind, unit, what: description } = declaration;
  const valueType = /^(\{\w+\}|By)$/.test(unit) ? ValueType.INT : ValueType.DOUBLE;
  const series = [...read()];
  if (series.length === 0) return [];
  const points = <V>(numberOf: (one: Readonly<Series>) => V): DataPoint<V>[] =>
    series.map((one) => {
      return { ...times, attributes: Object.fromEntries(attributesOf(declaration, one)), value: numberOf(one) };
    });
  const descriptor = { name, description, unit, valueType };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  if (kind === 'histogram') {
    const boundaries = [...declaration.buckets];
    const dataPoints = points(({ sum, count, buckets }) => {
      return { sum, count, buckets: { boundaries, counts: [...buckets] } };
    });
    return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
  }
  const dataPoints = points(({ sum }) => sum);
  if (kind === 'gauge') return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }];
  return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: kind === 'counter', dataPoints }];
}

const hrTimeOf = (ms: number): HrTime => [Math.floor(ms / 1000), (ms % 1000) * 1e6];
