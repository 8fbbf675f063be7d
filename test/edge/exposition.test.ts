import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createExposition } from '../../edge/src/metrics/exposition.ts';
import { createMeter as createEdgeMeter } from '../../edge/src/metrics/meter.ts';
import { mostSeries } from '../../edge/src/metrics/series.ts';
import { createMeter } from '../../src/metrics/meter.ts';
import { createScrape } from '../../src/metrics/prometheus.ts';
import { parseMetrics, sampleOf } from '../support/promText.ts';

/** What the library of the service writes. */
async function scraped(meter: ReturnType<typeof createMeter>): Promise<string> {
  const server = createServer(createScrape({ meter, since: 0, service: 's', version: '1', instance: 'i' }));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
}

it('the edge proxy writes metrics as the library of the service does', async () => {
  const meter = createMeter();
  const record = meter.histogram('messaging.client.operation.duration');
  for (const seconds of [0.001, 0.3, 0.5, 100]) record(seconds, '');
  record(1, 'throttled');
  meter.counter('messaging.client.consumed.messages')('skipped');
  meter.observe('device_messaging.partition.lag.events', () => [
    [3, '0'],
    [4, 'a"quoted"\\back\nline'],
  ]);
  const sorted = (text: string) =>
    parseMetrics(text)
      .filter(({ name }) => name !== 'target_info')
      .map(({ name, labels, value }) => [name, Object.entries(labels).toSorted(), value])
      .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  const ofKind = (text: string) => text.split('\n').filter((line) => /^# (HELP|TYPE) (?!target)/.test(line));
  const [expected, written] = [await scraped(meter), createExposition(meter, '1')()];
  expect(sorted(written)).toEqual(sorted(expected));
  expect(ofKind(written)).toEqual(ofKind(expected));
  expect(written).toContain('a\\"quoted\\"\\\\back\\nline');
});

it('a metric of the edge proxy that cannot be read leaves out only itself', () => {
  const meter = createEdgeMeter();
  meter.observe('process.memory.usage', () => {
    throw new Error('too many open files');
  });
  meter.observe('process.uptime', () => [[5]]);
  const samples = parseMetrics(createExposition(meter, '1')());
  expect(sampleOf(samples, 'process_uptime')).toBe(5);
  expect(sampleOf(samples, 'process_memory_usage')).toBeUndefined();
});

it('the edge proxy bounds the series of a metric, whatever the number of modules', () => {
  const meter = createEdgeMeter();
  const count = meter.counter('device_messaging.edge.replies.dropped');
  for (let number = 0; number < mostSeries + 50; number += 1) count(`module-${number}`, 'unknown');
  const samples = parseMetrics(createExposition(meter, '1')());
  const name = 'device_messaging_edge_replies_dropped_total';
  expect(samples.filter((one) => one.name === name)).toHaveLength(mostSeries + 1);
  expect(sampleOf(samples, name, { device_messaging_module: '_OTHER' })).toBe(50);
  expect(sampleOf(samples, name)).toBe(mostSeries + 50);
});
