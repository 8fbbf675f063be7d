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
