import { closed, counter } from 'telemetry/declaration.ts';

/** Partitions of the hub that this instance reads. */
export const readingMetrics = {
  'device_messaging.sessions.begun': counter({
    unit: '{session}',
    what: 'Partition sessions that began: this instance owns the partition and reads it',
    use: 'Partitions that change hands. A constant increase: instances come and go, or a partition cannot be read.',
  }),
  'device_messaging.sessions.ended': counter(
    {
      unit: '{session}',
      what: 'Partition sessions that ended',
      use: '`released` is normal: a stop or a hand-over. Alert on `lost`: another instance took the partition by force, so this one was cut off or too slow.',
    },
    closed(
      'device_messaging.reason',
      'released; could not be released; another instance owns the partition; the process stood still; the hub refuses the position',
      ['released', 'not_released', 'lost', 'stood_still', 'refused'],
    ),
  ),
  'device_messaging.checkpoints': counter(
    {
      unit: '{checkpoint}',
      what: 'Writes of checkpoints',
      use: 'Alert on `failed` without `written` for some minutes: a crash would repeat everything since the last one.',
    },
    closed('device_messaging.result', 'what became of it; refused because another instance owns the partition', [
      'written',
      'failed',
      'refused',
    ]),
  ),
  'device_messaging.gaps': counter(
    {
      unit: '{gap}',
      what: 'Rows of sequence numbers that were missing among the events of a partition session',
      use: 'Alert on any: events were lost. `retention`: the hub deleted them before they were read, so this service was too slow or was not running. `unknown`: see `partition.gap` in the log.',
    },
    closed('device_messaging.reason', 'whether the retention of the hub explains it', ['retention', 'unknown']),
  ),
  'device_messaging.quarantine.trials': counter(
    {
      unit: '{trial}',
      what: 'Messages that had to wait for their turn after unclean shutdowns of the process',
      use: 'Alert on any: the process has crashed twice with messages in flight. The log names the suspects.',
    },
    closed('device_messaging.result', 'handled to the end', ['handled']),
  ),
} as const;
