import { closed, counter, gauge, histogram, open, updowncounter } from '@device-messaging/telemetry/meter.ts';
import { dropReasons, faults, type ResultCode, refusalReasons, resultCodes } from '../protocol/vocabulary.ts';

/** Upper bounds in seconds for one request, as the HTTP conventions recommend; attempts have 30 s at most by default. */
export const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30];

/** Upper bounds in seconds for what may take minutes: outages, full queues of devices, deadlines (P2). */
const longBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

const message = open('device_messaging.message', 'name of the message in the catalogue; `_OTHER` for any other');
const generation = closed('device_messaging.generation', 'generation of the message', ['V1', 'V2']);
const kinds = ['message', 'skipped', 'unattributed', 'undecodable'] as const;
const kind = closed('device_messaging.kind', 'a message of ours, or why it is passed over', kinds);
const stages = ['hub', 'lane'] as const;
const stage = closed('device_messaging.stage', 'where it waited: in the hub, then behind others of its device', stages);
const place = closed(
  'device_messaging.place',
  'in work, waiting in memory to begin, with nothing left but replies to be sent, with nothing left but replies that wait for the full queues of their devices; `models`: those that `Svc.Device.SyncModel` keeps, beside one of these',
  ['work', 'memory', 'replies', 'full_queues', 'models'],
);
const code = closed('device_messaging.code', 'result code', Object.keys(resultCodes) as ResultCode[]);
const fault = closed('error.type', 'whose side a failure is on; absent after a success', ['', ...faults]);

const messaging = (system: 'eventhubs' | 'iothub', operation: string) => {
  return { 'messaging.system': system, 'messaging.operation.name': operation };
};

export const messageMetrics = {
  'messaging.client.consumed.messages': counter('{message}', messaging('eventhubs', 'receive'))(
    'Events that were read from the hub',
    'The load. Most are `skipped`: telemetry that is not for this service. Alert on `unattributed`: events from another source than the built-in endpoint. `undecodable`: AMQP that would harm a reader; the log names the device.',
    [kind],
  ),
  'device_messaging.misspellings': counter('{message}')(
    'Events with a property name that is nearly one of ours',
    'A device that is being developed. `LOG_LEVEL=debug` names device and property.',
  ),
  'device_messaging.handled.messages': counter('{message}')(
    'Messages that were handled to their end, replies included',
    'Results by message. Those with `internal_platform_error` or `timeout_exceeded` become dead letters.',
    [code, message, generation],
  ),
  'messaging.process.duration': histogram(longBuckets, messaging('eventhubs', 'process'))(
    'Duration of the handling of a message, from its beginning until its result is known',
    'How long backends and back-off take together. The count is the number of handled messages.',
    [message, generation, fault],
  ),
  'device_messaging.wait.duration': histogram(longBuckets)(
    'How long handled messages waited before their handling began',
    'The 95th percentile of stage `hub` above what devices may wait: this instance reads too slowly, or the partition was not read. Stage `lane` is the wait behind earlier messages of the device, for room, or for a backend.',
    [stage],
  ),
  'device_messaging.replies.duration': histogram(longBuckets)(
    'How long the replies of a message took until the hub had settled them all',
    'Devices that do not fetch, or the rate that the hub takes. Only messages with replies are counted.',
  ),
  'device_messaging.held.messages': updowncounter('{message}')(
    'Messages that this instance holds in memory',
    '`work` at `DELIVERY_MAX_MESSAGES` for minutes: the service has no room to begin others, because backends are slow. `memory` near 25,000 of a partition or 50,000 in all: the rest waits in the hub.',
    [place],
  ),
  'device_messaging.work.limit': updowncounter('{message}')(
    'Messages that may be in flight at the moment (D163)',
    'It rises while messages wait and the event loop has time to spare: then backends or the hub are slow. At 48 with messages that wait, CPU is the limit.',
  ),
  'device_messaging.held.bytes': updowncounter('By')(
    'Bytes of memory that these messages are charged for',
    '`work` at `DELIVERY_MAX_BYTES` for minutes: as above, with large messages. `memory` near 32 MiB of a partition or 64 MiB in all: the same. `full_queues` at `REPLIES_FULL_QUEUE_BYTES`: replies to devices that do not fetch are dropped before their time. `models` at `DELIVERY_MAX_BYTES`: devices that fetch many models wait for each other until the hub has taken the replies.',
    [place],
  ),
  'device_messaging.unfinished.messages': updowncounter('{message}')(
    'Messages that are read and not handled to their end',
    'How much is held up on this side of the hub. The rest of a backlog waits in the hub.',
  ),
  'device_messaging.dead_letters': counter('{message}')(
    'Messages that failed through a fault on the service’s side',
    'Alert on any increase. `parked`: replay them when the cause is removed. `not_parked`: a limit or the store refused the message, and the log says where the hub has it.',
    [closed('device_messaging.result', 'whether it was stored as a dead letter', ['parked', 'not_parked'])],
  ),
  'device_messaging.dead_letters.waiting': updowncounter('{message}')(
    'Failed messages that wait because the store of dead letters is out',
    'Each holds its device, and no other. Alert when it is above 0 for five minutes: `dead_letters.not_written` in the log says what to do.',
  ),
};

const whereUnsettled = closed(
  'device_messaging.place',
  'waiting for their turn or for another attempt, for room in the full queues of their devices, or sent',
  ['waiting', 'full_queues', 'sent'],
);

export const replyMetrics = {
  'device_messaging.replies': counter('{message}')(
    'Replies of handled messages, by what became of them',
    'All but `delivered` were dropped. `queue_full`: the device does not fetch its messages. Alert when `throttled` or `unanswered` increases: more replies than the tier of the hub takes.',
    [closed('device_messaging.result', 'what became of it', ['delivered', ...dropReasons])],
  ),
  'messaging.client.operation.duration': histogram(requestBuckets, messaging('iothub', 'send'))(
    'Duration of one attempt to send a reply, until the hub has settled it',
    'The hub’s service endpoint: slow, or why it does not take replies.',
    [closed('error.type', 'why the hub did not take it; absent when it did', ['', ...refusalReasons])],
  ),
  'device_messaging.replies.unsettled': updowncounter('{message}')(
    'Replies that the hub has not settled',
    '`waiting` for minutes: the rate that the hub takes is too low for the messages, or there is no connection. `full_queues`: devices do not fetch; `/devices` names them.',
    [whereUnsettled],
  ),
  'device_messaging.replies.rate': gauge('{message}/s')(
    'Most replies a second, as set or as learned from the hub; 0 while the hub refuses every reply',
    'Missing while no limit is known. 0: the daily quota is used up, or the hub is suspended.',
  ),
  'device_messaging.devices.not_fetching': updowncounter('{device}')(
    'Devices whose queue in the hub was full for as long as a reply may wait',
    'Their replies are tried once and then dropped, until they fetch again.',
  ),
};

const ofPartition = 'id of the partition, among those that this instance reads';
const partition = open('messaging.destination.partition.id', ofPartition);
const states = ['reading', 'draining'] as const;
const state = closed('device_messaging.state', 'whether it takes in events, or only finishes what it has', states);
const workOrMemory = closed('device_messaging.place', 'in work, or waiting in memory to begin', ['work', 'memory']);

export const partitionMetrics = {
  'device_messaging.partitions': updowncounter('{partition}')(
    'Partitions that this instance owns and reads',
    'Alert when the sum of `reading` over all instances is 0: nobody reads.',
    [state],
  ),
  'device_messaging.partition.behind.duration': gauge('s')(
    'Age of the oldest event of the partition that is not done, read or not; 0 when the last one is done, absent while the hub does not answer. Nobody reports a partition that nobody reads',
    'How far behind. Alert when it grows for an hour, or nears half of the hub’s retention: events older than that are lost.',
    [partition],
  ),
  'device_messaging.partition.behind.age': gauge('s')(
    'How long ago the hub last answered about the partition: how old the figure above is, or since when it is absent',
    'Above a minute: the hub does not answer, and nobody knows how far behind the partition is.',
    [partition],
  ),
  'device_messaging.partition.messages': updowncounter('{message}')(
    'Messages that are read and not handled to their end',
    '`memory` grows: devices send faster than they are served, or a backend is out. Near 25,000 the partition waits in the hub. Alert when nobody has a partition that somebody had: nobody reads it.',
    [partition, workOrMemory],
  ),
  'device_messaging.partition.oldest.duration': gauge('s')(
    'How long ago the oldest message that is not handled to its end was read; 0 when there is none',
    'What is stuck. Above 15 minutes, the longest time-out of a message, while no backend is out: a defect.',
    [partition],
  ),
  'device_messaging.partition.checkpoint.duration': gauge('s')(
    'How long something has been done that no checkpoint contains; 0 when there is nothing such',
    'Alert when it is above five minutes: the store fails, and a crash would repeat everything since.',
    [partition],
  ),
  'device_messaging.partition.suspects': updowncounter('{message}')(
    'Messages under suspicion of having ended the process',
    'Alert on any: see `quarantine.begun` in the log.',
    [partition],
  ),
  'device_messaging.sessions.begun': counter('{session}')(
    'Partition sessions that began: this instance owns the partition and reads it',
    'Partitions that change hands. A constant increase: instances come and go, or a partition cannot be read.',
  ),
  'device_messaging.sessions.ended': counter('{session}')(
    'Partition sessions that ended',
    '`released` is normal: a stop or a hand-over. Alert on `lost`: another instance took the partition by force, so this one was cut off or too slow.',
    [
      closed(
        'device_messaging.reason',
        'released; could not be released; another instance owns the partition; the process stood still; neither store nor hub answered; the hub refuses the position',
        ['released', 'not_released', 'lost', 'stood_still', 'cut_off', 'refused'],
      ),
    ],
  ),
  'device_messaging.checkpoints': counter('{checkpoint}')(
    'Writes of checkpoints',
    '`failed` without `written` for some minutes: a crash would repeat everything since the last one.',
    [
      closed('device_messaging.result', 'what became of it; refused because another instance owns the partition', [
        'written',
        'failed',
        'refused',
      ]),
    ],
  ),
  'device_messaging.gaps': counter('{gap}')(
    'Rows of sequence numbers that were missing among the events of a partition session',
    'Alert on any: events were lost. `retention`: the hub deleted them before they were read, so this service was too slow or was not running. `unknown`: see `partition.gap` in the log.',
    [closed('device_messaging.reason', 'whether the retention of the hub explains it', ['retention', 'unknown'])],
  ),
  'device_messaging.quarantine.trials': counter('{trial}')(
    'Messages that had to wait for their turn after unclean shutdowns of the process',
    'Alert on any: the process has crashed twice with messages in flight. The log names the suspects.',
    [closed('device_messaging.result', 'handled to the end', ['handled'])],
  ),
};
