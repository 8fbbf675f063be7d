import { expect, it } from 'vitest';
import { createMeter } from '../../src/metrics/meter.ts';
import { summaryOf } from '../../src/metrics/summary.ts';

it('the counts of the last log line are each of their own metric', () => {
  const meter = createMeter();
  const times = (count: number, work: () => void) => Array.from({ length: count }, work);
  const handled = meter.counter('device_messaging.handled.messages');
  const reply = meter.counter('device_messaging.replies');
  const letter = meter.counter('device_messaging.dead_letters');
  const read = meter.counter('messaging.client.consumed.messages');
  times(1, () => handled('ok', 'model.create', 'V2'));
  times(2, () => handled('ok', 'Svc.Device.Created', 'V1'));
  times(4, () => handled('validation_error', 'model.create', 'V2'));
  times(5, () => handled('timeout_exceeded', 'model.create', 'V2'));
  times(6, () => letter('parked'));
  times(7, () => letter('not_parked'));
  times(8, () => reply('delivered'));
  times(10, () => reply('queue_full'));
  times(11, () => reply('too_large'));
  times(12, () => read('message'));
  times(13, () => read('skipped'));
  times(14, () => read('unattributed'));
  times(15, () => read('undecodable'));
  times(16, meter.counter('device_messaging.misspellings'));
  expect(summaryOf(meter)).toEqual({
    skipped: 13,
    misspellings: 16,
    unattributed: 14,
    undecodable: 15,
    succeeded: 3,
    failed: 9,
    parked: 6,
    repliesDelivered: 8,
    repliesDropped: 21,
  });
});
