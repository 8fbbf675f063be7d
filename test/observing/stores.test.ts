import { expect, it, vi } from 'vitest';
import { createStoreRecords } from '../../src/observing/callRecords.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { readingOf, sumsOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

it('calls to stores are recorded with their time and fault, and counted while they are under way', () => {
  const meter = createMeter();
  const records = createStoreRecords(meter);
  expect(readingOf(meter, 'device_messaging.store.requests')).toStrictEqual({});
  vi.advanceTimersByTime(1_000);
  const ends = [records.begin('files', 'read'), records.begin('files', 'read'), records.begin('deadLetters', 'write')];
  expect(readingOf(meter, 'device_messaging.store.requests')).toStrictEqual({ files: 2, deadLetters: 1 });
  vi.advanceTimersByTime(250);
  ends[0]?.();
  ends[2]?.('refused');
  expect(readingOf(meter, 'device_messaging.store.requests')).toStrictEqual({ files: 1 });
  const expected = { 'files read': 0.25, 'deadLetters write refused': 0.25 };
  expect(sumsOf(meter, 'device_messaging.store.duration')).toEqual(expected);
});
