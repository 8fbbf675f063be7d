import type { MeterWithReadings } from './meter.ts';

/** Counts since the start, for the last line of the log. */
export function summaryOf({ total }: Pick<MeterWithReadings, 'total'>) {
  const succeeded = total('device_messaging.handled.messages', 'ok');
  const delivered = total('device_messaging.replies', 'delivered');
  return {
    skipped: total('messaging.client.consumed.messages', 'skipped'),
    misspellings: total('device_messaging.misspellings'),
    unattributed: total('messaging.client.consumed.messages', 'unattributed'),
    undecodable: total('messaging.client.consumed.messages', 'undecodable'),
    succeeded,
    failed: total('device_messaging.handled.messages') - succeeded,
    parked: total('device_messaging.dead_letters', 'parked'),
    notParked: total('device_messaging.dead_letters', 'not_parked'),
    repliesDelivered: delivered,
    repliesDropped: total('device_messaging.replies') - delivered,
  };
}
