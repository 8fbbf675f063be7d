import { closed, counter, histogram, open, updowncounter } from 'telemetry/declaration.ts';
import { faults, type ResultCode, resultCodes } from '../../protocol/vocabulary.ts';
import { longBuckets } from './buckets.ts';

const message = open('device_messaging.message', 'name of the message in the catalogue; `_OTHER` for any other');
const generation = closed('device_messaging.generation', 'generation of the message', ['V1', 'V2']);
const stage = closed('device_messaging.stage', 'where it waited: in the hub, then behind others of its device', [
  'hub',
  'lane',
]);
const place = closed(
  'device_messaging.place',
  'in work, waiting in memory to begin, with nothing left but replies to be sent, with nothing left but replies that wait for the full queues of their devices; `models`: those that `Svc.Device.SyncModel` keeps, beside one of these',
  ['work', 'memory', 'replies', 'full_queues', 'models'],
);
const code = closed('device_messaging.code', 'result code', Object.keys(resultCodes) as ResultCode[]);
const fault = closed('error.type', 'whose side a failure is on; absent after a success', ['', ...faults]);

/** Messages from the hub to their end. */
export const messageMetrics = {
  'messaging.client.consumed.messages': counter(
    {
      unit: '{message}',
      what: 'Events that were read from the hub',
      use: 'The load. Most are `skipped`: telemetry that is not for this service. Alert on `unattributed`: events from another source than the built-in endpoint. `undecodable`: AMQP that would harm a reader; the log names the device.',
      constants: { 'messaging.system': 'eventhubs', 'messaging.operation.name': 'receive' },
    },
    closed('device_messaging.kind', 'a message of ours, or why it is passed over', [
      'message',
      'skipped',
      'unattributed',
      'undecodable',
    ]),
  ),
  'device_messaging.misspellings': counter({
    unit: '{message}',
    what: 'Events with a property name that is nearly one of ours',
    use: 'A device that is being developed. `LOG_LEVEL=debug` names device and property.',
  }),
  'device_messaging.handled.messages': counter(
    {
      unit: '{message}',
      what: 'Messages that were handled to their end, replies included',
      use: 'Results by message. Alert when `internal_platform_error` or `timeout_exceeded` increases: these messages become dead letters.',
    },
    code,
    message,
    generation,
  ),
  'messaging.process.duration': histogram(
    {
      unit: 's',
      what: 'Duration of the handling of a message, from its beginning until its result is known',
      use: 'How long backends and back-off take together. The count is the number of handled messages.',
      constants: { 'messaging.system': 'eventhubs', 'messaging.operation.name': 'process' },
      buckets: longBuckets,
    },
    message,
    generation,
    fault,
  ),
  'device_messaging.wait.duration': histogram(
    {
      unit: 's',
      what: 'How long handled messages waited before their handling began',
      use: 'Alert when the 95th percentile of stage `hub` is above what devices may wait: this instance reads too slowly, or the partition was not read. Stage `lane` is the wait behind earlier messages of the device, for room, or for a backend.',
      buckets: longBuckets,
    },
    stage,
  ),
  'device_messaging.replies.duration': histogram({
    unit: 's',
    what: 'How long the replies of a message took until the hub had settled them all',
    use: 'Devices that do not fetch, or the rate that the hub takes. Only messages with replies are counted.',
    buckets: longBuckets,
  }),
  'device_messaging.held.messages': updowncounter(
    {
      unit: '{message}',
      what: 'Messages that this instance holds in memory',
      use: '`work` at `DELIVERY_MAX_MESSAGES` for minutes: the service has no room to begin others, because backends are slow. `memory` near 25,000 of a partition or 50,000 in all: the rest waits in the hub.',
    },
    place,
  ),
  'device_messaging.work.limit': updowncounter({
    unit: '{message}',
    what: 'Messages that may be in flight at the moment (D163)',
    use: 'It rises while messages wait and the event loop has time to spare: then backends or the hub are slow. At 48 with messages that wait, CPU is the limit.',
  }),
  'device_messaging.held.bytes': updowncounter(
    {
      unit: 'By',
      what: 'Bytes of memory that these messages are charged for',
      use: '`work` at `DELIVERY_MAX_BYTES` for minutes: as above, with large messages. `memory` near 32 MiB of a partition or 64 MiB in all: the same. `full_queues` at `REPLIES_FULL_QUEUE_BYTES`: replies to devices that do not fetch are dropped before their time. `models` at `DELIVERY_MAX_BYTES`: devices that fetch many models wait for each other until the hub has taken the replies.',
    },
    place,
  ),
  'device_messaging.unfinished.messages': updowncounter({
    unit: '{message}',
    what: 'Messages that are read and not handled to their end',
    use: 'How much is held up on this side of the hub. The rest of a backlog waits in the hub.',
  }),
  'device_messaging.dead_letters': counter(
    {
      unit: '{message}',
      what: 'Messages that failed through a fault on the service’s side',
      use: 'Alert on any increase. `parked`: replay them when the cause is removed. `not_parked`: a limit or the store refused the message, and the log says where the hub has it.',
    },
    closed('device_messaging.result', 'whether it was stored as a dead letter', ['parked', 'not_parked']),
  ),
  'device_messaging.dead_letters.waiting': updowncounter({
    unit: '{message}',
    what: 'Failed messages that wait because the store of dead letters is out',
    use: 'Each holds its device, and no other. Alert when it is above 0 for five minutes: `dead_letters.not_written` in the log says what to do.',
  }),
} as const;
