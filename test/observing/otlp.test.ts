import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Metrics, openMetrics } from '../../src/observing/metrics.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { recordingLog } from '../support/observed.ts';

const canary = 'Y2FuYXJ5LWtleQ';
const notSent = 'metrics cannot be sent to the collector';

let collector: Collector;
let metrics: Metrics | undefined;
let log = recordingLog();
beforeEach(async () => {
  collector = await startCollector();
  log = recordingLog();
  // The exporter of the SDK reads the environment itself.
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', `api-key=${canary}`);
  vi.stubEnv('OTEL_METRIC_EXPORT_INTERVAL', '1000'); // which is the time-out, too
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test');
});
afterEach(async () => {
  await metrics?.close();
  metrics = undefined;
  await collector.close();
});

function open() {
  metrics = openMetrics({ service: 'tested', version: '1.2.3', instance: 'host-1', env: process.env, log });
  return metrics;
}

const received = () => vi.waitFor(() => expect(collector.metrics.length).toBeGreaterThan(0), { timeout: 20_000 });
const said = (text: string) =>
  vi.waitFor(() => expect(log.lines.map(({ message }) => message)).toContain(text), { timeout: 20_000 });

const latest = (name: string) =>
  collector.metrics
    .at(-1)
    ?.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    .find((metric) => metric.name === name);

it('the metrics are sent to the collector at intervals, as OTLP', async () => {
  const { meter } = open();
  meter.counter('device_messaging.misspellings')();
  meter.histogram('device_messaging.replies.duration')(0.2);
  await received();
  expect(collector.requests[0]).toMatchObject({ path: '/v1/metrics' });
  expect(collector.requests[0]?.headers).toMatchObject({ 'api-key': canary });
  const expected = { unit: '{message}', sum: { isMonotonic: true, dataPoints: [{ asInt: 1, attributes: [] }] } };
  expect(latest('device_messaging.misspellings')).toMatchObject(expected);
  const told = { unit: 's', histogram: { dataPoints: [{ count: 1, sum: 0.2 }] } };
  expect(latest('device_messaging.replies.duration')).toMatchObject(told);
  expect(latest('process.uptime')).toMatchObject({ gauge: { dataPoints: [{ asDouble: expect.any(Number) }] } });
  const [{ resource } = { resource: { attributes: [] } }] = collector.metrics[0]?.resourceMetrics ?? [];
  expect(resource.attributes).toEqual(
    expect.arrayContaining([
      { key: 'service.name', value: { stringValue: 'tested' } },
      { key: 'service.instance.id', value: { stringValue: 'host-1' } },
      { key: 'deployment.environment.name', value: { stringValue: 'test' } },
    ]),
  );
  expect(JSON.stringify(collector.metrics)).not.toContain(canary);
});

it('the other metrics are sent when one cannot be read', async () => {
  const { meter } = open();
  meter.observe('device_messaging.unfinished.messages', () => {
    throw new Error('unforeseen');
  });
  await received();
  expect(latest('device_messaging.unfinished.messages')).toBeUndefined();
  expect(latest('process.uptime')).toMatchObject({ gauge: { dataPoints: [{ asDouble: expect.any(Number) }] } });
});

it('the last values are sent at the close', async () => {
  const { meter, close } = open();
  await received();
  meter.counter('device_messaging.misspellings')();
  await close();
  expect(latest('device_messaging.misspellings')).toMatchObject({ sum: { dataPoints: [{ asInt: 1 }] } });
});

it('the refusals of a collector are logged once, and their end; the log has no header', async () => {
  collector.behave('refuse');
  open();
  await said(notSent);
  collector.behave('accept');
  await said('trouble is over');
  expect(log.lines.filter(({ message }) => message === notSent)).toMatchObject([{ level: 'warn' }]);
  expect(JSON.stringify(log.lines.map(({ fields }) => [fields, String(fields['err'])]))).not.toContain(canary);
});

it('the close ends although the collector does not answer', async () => {
  collector.behave('hang');
  const { close } = open();
  await vi.waitFor(() => expect(collector.requests.length).toBeGreaterThan(0), { timeout: 20_000 });
  await close();
});

it('an invalid address is logged, and nothing is sent', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318');
  open();
  await said(notSent);
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { unusable: ['OTEL_EXPORTER_OTLP_ENDPOINT'] } }]);
});
