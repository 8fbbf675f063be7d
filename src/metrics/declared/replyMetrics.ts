import { closed, counter, gauge, histogram, updowncounter } from 'telemetry/declaration.ts';
import { dropReasons, refusalReasons } from '../../protocol/vocabulary.ts';
import { requestBuckets } from './buckets.ts';

/** Replies to devices. */
export const replyMetrics = {
  'device_messaging.replies': counter(
    {
      unit: '{message}',
      what: 'Replies of handled messages, by what became of them',
      use: 'All but `delivered` were dropped. `queue_full`: the device does not fetch its messages. Alert when `throttled` or `unanswered` increases: more replies than the tier of the hub takes.',
    },
    closed('device_messaging.result', 'what became of it', ['delivered', ...dropReasons]),
  ),
  'messaging.client.operation.duration': histogram(
    {
      unit: 's',
      what: 'Duration of one attempt to send a reply, until the hub has settled it',
      use: 'The hub’s service endpoint: slow, or why it does not take replies.',
      constants: { 'messaging.system': 'iothub', 'messaging.operation.name': 'send' },
      buckets: requestBuckets,
    },
    closed('error.type', 'why the hub did not take it; absent when it did', ['', ...refusalReasons]),
  ),
  'device_messaging.replies.unsettled': updowncounter(
    {
      unit: '{message}',
      what: 'Replies that the hub has not settled',
      use: '`waiting` for minutes: the rate that the hub takes is too low for the messages, or there is no connection. `full_queues`: devices do not fetch; `/devices` names them.',
    },
    closed(
      'device_messaging.place',
      'waiting for their turn or for another attempt, for room in the full queues of their devices, or sent',
      ['waiting', 'full_queues', 'sent'],
    ),
  ),
  'device_messaging.replies.rate': gauge({
    unit: '{message}/s',
    what: 'Most replies a second, as set or as learned from the hub; 0 while the hub refuses every reply',
    use: 'Missing while no limit is known. 0: the daily quota is used up, or the hub is suspended.',
  }),
  'device_messaging.devices.not_fetching': updowncounter({
    unit: '{device}',
    what: 'Devices whose queue in the hub was full for as long as a reply may wait',
    use: 'Their replies are tried once and then dropped, until they fetch again.',
  }),
} as const;
