import { serveHealth } from '@device-messaging/telemetry/health.ts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Metrics, noMeter, openMetrics } from '../../src/observing/metrics.ts';
import { recordingLog } from '../support/observed.ts';
import { parseMetrics, sampleOf } from '../support/prom.ts';

const open = (env: NodeJS.ProcessEnv = {}) =>
  openMetrics({ service: 'tested', version: '1.2.3', instance: 'host-1', env, log: recordingLog() });

let metrics: Metrics;
let text: () => Promise<string>;
let close: () => Promise<void>;
beforeEach(async () => {
  metrics = open();
  const server = await serveHealth(
    { host: '127.0.0.1', port: 0, settings: { host: 'A_HOST', port: 'A_PORT' } },
    { missing: () => [], metrics: metrics.text },
  );
  const url = `http://127.0.0.1:${server.port}/metrics`;
  text = async () => {
    const response = await fetch(url);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    return response.text();
  };
  close = server.close;
});
afterEach(async () => {
  await metrics.close();
  await close();
});

it('the exposition has counters with their help, type and attributes, from 0 on', async () => {
  const count = metrics.meter.counter('messaging.client.consumed.messages');
  count('skipped');
  count('skipped');
  const served = await text();
  const name = 'messaging_client_consumed_messages_total';
  expect(served).toContain(`# HELP ${name} Events that were read from the hub\n`);
  expect(served).toContain(`# TYPE ${name} counter\n`);
  const samples = parseMetrics(served).filter((one) => one.name === name);
  const system = { messaging_system: 'eventhubs', messaging_operation_name: 'receive' };
  expect(samples).toEqual([
    { name, labels: { ...system, device_messaging_kind: 'message' }, value: 0 },
    { name, labels: { ...system, device_messaging_kind: 'skipped' }, value: 2 },
    { name, labels: { ...system, device_messaging_kind: 'unattributed' }, value: 0 },
    { name, labels: { ...system, device_messaging_kind: 'undecodable' }, value: 0 },
  ]);
});

it('the exposition has histograms with cumulative buckets, without attributes that have no value', async () => {
  const record = metrics.meter.histogram('messaging.client.operation.duration');
  for (const seconds of [0.001, 0.3, 100]) record(seconds, '');
  record(1, 'throttled');
  const samples = parseMetrics(await text());
  const bucket = (le: string) =>
    samples.find(
      ({ name, labels }) =>
        name === 'messaging_client_operation_duration_bucket' && labels['le'] === le && !('error_type' in labels),
    )?.value;
  expect(['0.005', '0.25', '0.5', '30', '+Inf'].map(bucket)).toEqual([1, 1, 2, 2, 3]);
  const failed = { error_type: 'throttled' };
  expect(sampleOf(samples, 'messaging_client_operation_duration_count', failed)).toBe(1);
  expect(sampleOf(samples, 'messaging_client_operation_duration_sum')).toBeCloseTo(101.301);
});

it('counters accumulate over scrapes', async () => {
  const count = metrics.meter.counter('device_messaging.misspellings');
  for (const expected of [1, 2, 3]) {
    count();
    expect(sampleOf(parseMetrics(await text()), 'device_messaging_misspellings_total')).toBe(expected);
  }
});

it('gauges have the values of that moment, and none that is no longer observed', async () => {
  let spaces = ['first', 'second'];
  metrics.meter.observe('v8js.memory.heap.used', () => spaces.map((name) => [7, name] as const));
  const served = async () =>
    parseMetrics(await text())
      .filter(({ name }) => name === 'v8js_memory_heap_used')
      .map(({ labels }) => labels['v8js_heap_space_name']);
  expect(await served()).toEqual(['first', 'second']);
  spaces = ['second'];
  expect(await served()).toEqual(['second']);
});

it('the exposition has the other metrics when one cannot be read', async () => {
  metrics.meter.observe('device_messaging.unfinished.messages', () => {
    throw new Error('unforeseen');
  });
  const samples = parseMetrics(await text());
  expect(sampleOf(samples, 'device_messaging_unfinished_messages')).toBeUndefined();
  expect(sampleOf(samples, 'process_uptime')).toBeGreaterThan(0);
});

it('the exposition names the source of the metrics', async () => {
  const [target] = parseMetrics(await text()).filter(({ name }) => name === 'target_info');
  const expected = { service_name: 'tested', service_version: '1.2.3', service_instance_id: 'host-1' };
  expect(target?.labels).toMatchObject(expected);
});

it('the event loop delay excludes the interval of the measurement', async () => {
  await new Promise((resolve) => setTimeout(resolve, 250));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250); // holds up the event loop
  await new Promise((resolve) => setTimeout(resolve, 250));
  const samples = parseMetrics(await text());
  const delay = (which: string) => sampleOf(samples, `nodejs_eventloop_delay_${which}`) ?? Number.NaN;
  expect(delay('max')).toBeGreaterThan(0.15);
  expect(delay('max')).toBeLessThan(10);
  expect(delay('min')).toBeLessThan(delay('max'));
  for (const which of ['mean', 'stddev', 'p50', 'p99']) expect(delay(which)).toBeLessThanOrEqual(delay('max'));
  expect(sampleOf(samples, 'process_memory_usage')).toBeGreaterThan(10_000_000);
  for (const mode of ['user', 'system']) {
    const seconds = sampleOf(samples, 'process_cpu_time_total', { cpu_mode: mode });
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(1_000_000);
  }
  expect(sampleOf(samples, 'nodejs_eventloop_utilization')).toBeGreaterThan(0);
  expect(sampleOf(samples, 'v8js_memory_heap_limit', { v8js_heap_space_name: 'old_space' })).toBeGreaterThan(1_000_000);
  expect(sampleOf(samples, 'v8js_memory_heap_used', { v8js_heap_space_name: 'old_space' })).toBeGreaterThan(1_000_000);
});

it('the event loop delay is the same for all collectors of a second', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000_000);
  const longest = async () => sampleOf(parseMetrics(await text()), 'nodejs_eventloop_delay_max');
  const before = await longest();
  let at = 1_000_000;
  const later = () => {
    at += 10_000; // a second in which nothing was measured yet tells 0 to its end
    now.mockReturnValue(at);
    return longest();
  };
  await expect.poll(later).not.toBe(before);
  const first = await longest();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await longest()).toBe(first);
});

it('OTEL_SDK_DISABLED switches all metrics off', async () => {
  const off = open({ OTEL_SDK_DISABLED: 'True', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  expect([off.meter, off.text, off.summary()]).toEqual([noMeter, undefined, {}]);
  await off.close();
});
