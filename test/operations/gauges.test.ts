import { expect, it } from 'vitest';
import type { PartitionState } from '../../src/hub/reading/hubWatch.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { createProducer } from '../../src/observing/otlpMetrics.ts';
import { observePartitions } from '../../src/operations/gauges.ts';
import { readingOf } from '../support/observed.ts';

const stateOf = (partition: string, more: Partial<PartitionState> = {}): PartitionState => ({
  ...{ partition, state: 'reading', epoch: 1, since: 0, position: 9 },
  ...{
    ...{ behindSeconds: 2.5, asOf: performance.now() - 70_000, inFlight: 1, sleeping: 0, waiting: 7 },
    devices: 3,
  },
  oldest: { device: 'zq-device', sequenceNumber: 3, readAt: performance.now() - 60_000 },
  checkpoint: { sequenceNumber: 2, ageSeconds: 11, failures: 0, isFailing: false, unwritten: 0 },
  suspects: 0,
  ...more,
});

/** A meter with these partitions, and how often their state was asked for. */
function observed(states: readonly PartitionState[]) {
  const meter = createMeter();
  const asked = { times: 0 };
  observePartitions(meter, {
    partitions() {
      asked.times += 1;
      return states;
    },
  });
  return { meter, asked };
}

it('the gauges have no age of the oldest message where there is none', () => {
  const { meter } = observed([stateOf('0'), stateOf('3', { oldest: undefined })]);
  expect(Object.keys(readingOf(meter, 'device_messaging.partition.oldest.duration'))).toEqual(['0']);
});

it('the gauges have the lag of partitions, with the age of each figure', () => {
  const { meter } = observed([stateOf('0'), stateOf('3', { behindSeconds: null })]);
  expect(readingOf(meter, 'device_messaging.partition.behind.duration')).toEqual({ 0: 2.5 });
  const ages = Object.entries(readingOf(meter, 'device_messaging.partition.behind.age'));
  expect(ages.map(([partition, age]) => [partition, Math.floor(age / 10)])).toEqual([
    ['0', 7],
    ['3', 7],
  ]);
});

it('an unknown figure is left out, since 0 would mean that nothing is left', async () => {
  const { meter } = observed([stateOf('0', { behindSeconds: null, asOf: undefined })]);
  const { resourceMetrics } = await createProducer({ meter, since: Date.now() }).collect();
  const names = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name));
  expect(names.filter((name) => name.includes('.behind.'))).toEqual([]);
  expect(names).toContain('device_messaging.partition.suspects');
  expect(JSON.stringify(resourceMetrics.scopeMetrics)).not.toContain('zq-device');
});

it('each collection passes once over the waiting messages', async () => {
  const { meter, asked } = observed([stateOf('0')]);
  const { collect } = createProducer({ meter, since: Date.now() });
  await collect();
  expect(asked.times).toBe(1);
  await collect();
  expect(asked.times).toBe(2);
});
