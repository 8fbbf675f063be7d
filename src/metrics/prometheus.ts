import type { RequestListener } from 'node:http';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { type Report, sourceOf } from './source.ts';

/** Answers scrapes in the text format of Prometheus. Loaded at the first scrape only, with the libraries of the SDK. */
export function createScrape(report: Report): RequestListener {
  const { producer, resource } = sourceOf(report);
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    withoutScopeInfo: true,
    metricProducers: [producer],
  });
  // It gives the exporter the resource. There is nothing to end: the server of the exporter is not started.
  new MeterProvider({ resource, readers: [exporter] });

  return (request, response) => {
    exporter.getMetricsRequestHandler(request, response);
    response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
  };
}
