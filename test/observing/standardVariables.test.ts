import { expect, it } from 'vitest';
import { metricsWanted } from '../../src/observing/traces.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

it.each([
  ['nothing', false, {}],
  ['an address', true, endpoint],
  ['an address for metrics', true, { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://c.example/m' }],
  ['an empty address', false, { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  ['the exporter otlp', true, { OTEL_METRICS_EXPORTER: 'otlp' }],
  ['two exporters', true, { OTEL_METRICS_EXPORTER: 'prometheus, otlp' }],
  ['an address, and no exporter', false, { ...endpoint, OTEL_METRICS_EXPORTER: 'none' }],
  ['an address, and another exporter', false, { ...endpoint, OTEL_METRICS_EXPORTER: 'prometheus' }],
  ['an address, and an empty exporter', true, { ...endpoint, OTEL_METRICS_EXPORTER: '' }],
  ['an address, and all of it switched off', false, { ...endpoint, OTEL_SDK_DISABLED: 'true' }],
])('with %s, metrics are sent: %s', (_, isSent, env) => expect(metricsWanted(env).isSent).toBe(isSent));

it.each([
  ['http://collector:4318', true],
  ['https://collector/base/', true],
  ['collector:4318', false],
  ['grpc://collector:4317', false],
  ['http://', false],
])('%s is an address: %s', (url, isUsable) => {
  const { unusable } = metricsWanted({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
  expect(unusable).toEqual(isUsable ? [] : ['OTEL_EXPORTER_OTLP_ENDPOINT']);
});

it('gRPC is reported as unsupported', () => {
  const { unusable } = metricsWanted({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
  expect(unusable).toEqual(['OTEL_EXPORTER_OTLP_PROTOCOL']);
  const own = { OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json' };
  expect(metricsWanted({ ...endpoint, ...own, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }).unusable).toEqual([]);
});

it.each([
  [{}, 60_000, 30_000],
  [{ OTEL_METRIC_EXPORT_INTERVAL: '5000' }, 5_000, 5_000],
  [{ OTEL_METRIC_EXPORT_INTERVAL: '5000', OTEL_METRIC_EXPORT_TIMEOUT: '1000' }, 5_000, 1_000],
  [{ OTEL_METRIC_EXPORT_INTERVAL: 'often', OTEL_METRIC_EXPORT_TIMEOUT: '-1' }, 60_000, 30_000],
  [{ OTEL_METRIC_EXPORT_INTERVAL: '1e12' }, 60_000, 30_000],
])('%j means an interval of %i ms and a time-out of %i ms', (env, intervalMs, timeoutMs) =>
  expect(metricsWanted(env)).toMatchObject({ intervalMs, timeoutMs }),
);
