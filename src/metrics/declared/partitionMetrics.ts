import { closed, gauge, open, updowncounter } from 'telemetry/declaration.ts';

const partition = open(
  'messaging.destination.partition.id',
  'id of the partition, among those that this instance reads',
);
const state = closed('device_messaging.state', 'whether it takes in events, or only finishes what it has', [
  'reading',
  'draining',
]);
const place = closed('device_messaging.place', 'in work, or waiting in memory to begin', ['work', 'memory']);

/** The state of the partitions that this instance reads. */
export const partitionMetrics = {
  'device_messaging.partitions': updowncounter(
    {
      unit: '{partition}',
      what: 'Partitions that this instance owns and reads',
      use: 'Alert when the sum of `reading` over all instances is below the number of partitions for five minutes: nobody reads one of them.',
    },
    state,
  ),
  'device_messaging.partition.behind.duration': gauge(
    {
      unit: 's',
      what: 'Age of the oldest event of the partition that is not done, read or not; 0 when the last one is done, absent while the hub does not answer. Nobody reports a partition that nobody reads',
      use: 'How far behind. Alert when it grows for an hour, or nears half of the hub’s retention: events older than that are lost.',
    },
    partition,
  ),
  'device_messaging.partition.behind.age': gauge(
    {
      unit: 's',
      what: 'How long ago the hub last answered about the partition: how old the figure above is, or since when it is absent',
      use: 'Alert when it is above a minute: the hub does not answer, and nobody knows how far behind the partition is.',
    },
    partition,
  ),
  'device_messaging.partition.messages': updowncounter(
    {
      unit: '{message}',
      what: 'Messages that are read and not handled to their end',
      use: '`memory` grows: devices send faster than they are served, or a backend is out. Near 25,000 the partition waits in the hub.',
    },
    partition,
    place,
  ),
  'device_messaging.partition.oldest.duration': gauge(
    {
      unit: 's',
      what: 'How long ago the oldest message that is not handled to its end was read; 0 when there is none',
      use: 'What is stuck. Alert when it is above 15 minutes, the longest time-out of a message, while no backend is out.',
    },
    partition,
  ),
  'device_messaging.partition.checkpoint.duration': gauge(
    {
      unit: 's',
      what: 'How long something has been done that no checkpoint contains; 0 when there is nothing such',
      use: 'Alert when it is above five minutes: the store fails, and a crash would repeat everything since.',
    },
    partition,
  ),
  'device_messaging.partition.suspects': updowncounter(
    {
      unit: '{message}',
      what: 'Messages under suspicion of having ended the process',
      use: 'Alert on any: see `quarantine.begun` in the log.',
    },
    partition,
  ),
} as const;
