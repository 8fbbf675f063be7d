import {
  closed,
  counter,
  createMeter as createMeterOf,
  mostSeries,
  open,
  statusValue,
} from '@device-messaging/telemetry/meter.ts';
import { expect, it } from 'vitest';
import { createMeter } from '../../src/observing/metrics.ts';
import { readingOf } from '../support/observed.ts';

const seriesOf = (meter: ReturnType<typeof createMeter>, name: string) => [
  ...(meter
    .readings()
    .find((one) => one.name === name)
    ?.read() ?? []),
];

it('a counter that is requested again counts in the same series', () => {
  const meter = createMeter();
  meter.counter('device_messaging.misspellings')();
  meter.counter('device_messaging.misspellings')();
  expect(readingOf(meter, 'device_messaging.misspellings')).toEqual({ '': 2 });
});

it('a counter is 0 before the part that counts exists, in the programs that have it', () => {
  const meter = createMeter(['device_messaging.misspellings', 'device_messaging.replies.duration']);
  expect(meter.readings().map(({ name }) => name)).toEqual(['device_messaging.misspellings']);
  expect(seriesOf(meter, 'device_messaging.misspellings').map(({ sum }) => sum)).toEqual([0]);
  expect(meter.total('device_messaging.replies')).toBe(0);
});

it.each([
  ['20 values', 20, 20],
  ['21 values', 21, 0],
  ['any values', undefined, 0],
])('a counter with an attribute of %s begins with its series only when they are few', (_, values, series) => {
  const names = values && Array.from({ length: values }, (__, index) => String(index));
  const attribute = names ? closed('key', 'which', names) : open('key', 'which');
  const declared = { parcels: counter('1')('Parcels', '', [attribute]) };
  const [reading] = createMeterOf(declared).readings();
  expect([...(reading?.read() ?? [])]).toHaveLength(series);
});

it('series are told apart by each of their values', () => {
  const meter = createMeter();
  const count = meter.counter('device_messaging.handled.messages') as (...values: string[]) => void;
  for (const values of [
    ['ok', 'x', 'V2'],
    ['o', 'kx', 'V2'],
    ['ok', 'x', 'V1'],
    ['ok', 'x', 'V1'],
  ])
    count(...values);
  expect(readingOf(meter, 'device_messaging.handled.messages')).toEqual({ 'ok x V2': 1, 'o kx V2': 1, 'ok x V1': 2 });
});

it('a duration is in the first bucket whose bound it does not exceed; a negative one counts as 0', () => {
  const meter = createMeter();
  const record = meter.histogram('device_messaging.replies.duration');
  for (const seconds of [-3, 0.005, 0.0051, 3600, 3601]) record(seconds);
  const [series] = seriesOf(meter, 'device_messaging.replies.duration');
  expect(series?.buckets).toEqual([2, 1, ...new Array(13).fill(0), 1, 1]);
  expect([series?.count, series?.sum]).toEqual([5, 0.005 + 0.0051 + 3600 + 3601]);
});

it('an observed metric is read at each collection', () => {
  const meter = createMeter();
  let unfinished = 3;
  meter.observe('device_messaging.unfinished.messages', () => [[unfinished]]);
  expect(readingOf(meter, 'device_messaging.unfinished.messages')).toEqual({ '': 3 });
  unfinished = 5;
  expect(readingOf(meter, 'device_messaging.unfinished.messages')).toEqual({ '': 5 });
});

it('the series of a metric are bounded: the rest is counted as _OTHER', () => {
  const meter = createMeter();
  const count = meter.counter('device_messaging.handled.messages');
  for (let number = 0; number < 3 * mostSeries; number += 1) count('ok', `hostile-${number}`, 'V2');
  const counted = readingOf(meter, 'device_messaging.handled.messages');
  expect(Object.keys(counted)).toHaveLength(mostSeries + 1);
  expect(counted['_OTHER _OTHER _OTHER']).toBe(2 * mostSeries);
  expect(meter.total('device_messaging.handled.messages')).toBe(3 * mostSeries);
  expect(meter.total('device_messaging.handled.messages', 'ok')).toBe(mostSeries);
  expect(meter.total('device_messaging.handled.messages', 'ok', 'hostile-1')).toBe(1);
});

it.each([
  [100, '100'],
  [200, '200'],
  [599, '599'],
  [99, '_OTHER'],
  [600, '_OTHER'],
  [123456789, '_OTHER'],
])('the status %i counts as %s', (status, value) => expect(statusValue(status)).toBe(value));
