import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { collectorAgent } from '../network/collectorAgent.ts';
import { createProducer, type Report } from './producer.ts';
import { type ProgramResource, resourceOf } from './resource.ts';
import type { MetricsWanted } from './standardVariables.ts';

/** What becomes of each export; the exporter of the SDK tells nobody but its caller. */
export interface ExportOutcome {
  failed(error: unknown): void;
  succeeded(): void;
}

const reporting = (exporter: PushMetricExporter, { failed, succeeded }: ExportOutcome): PushMetricExporter => ({
  export(metrics, done) {
    exporter.export(metrics, (result) => {
      if (result.error) failed(result.error);
      else succeeded();
      done(result);
    });
  },
  forceFlush: () => exporter.forceFlush(),
  shutdown: () => exporter.shutdown(),
});

/**
 * Sends metrics to a collector at intervals (OTLP over HTTP, JSON). Loaded only when the standard variables ask for it:
 * the start without a collector stays as fast as it is. The exporter reads their addresses and headers itself.
 * @returns sends the last values, and ends
 */
export function sendToCollector(
  report: Report & ProgramResource,
  wanted: MetricsWanted,
  outcome: ExportOutcome,
): () => Promise<void> {
  const reader = new PeriodicExportingMetricReader({
    exporter: reporting(new OTLPMetricExporter(collectorAgent(wanted.collector)), outcome),
    exportIntervalMillis: wanted.intervalMs,
    exportTimeoutMillis: wanted.timeoutMs,
    metricProducers: [createProducer(report)],
  });
  const provider = new MeterProvider({ resource: resourceOf(report), readers: [reader] });
  return () => provider.shutdown();
}
