import { closed, counter, gauge, open, updowncounter } from './declaration.ts';

const delay = (which: string) =>
  gauge({
    unit: 's',
    what: `Event loop delay since the last collection: ${which}`,
    use: 'A long delay holds up everything: a processor that is too slow or throttled, or work that never pauses.',
  });

const space = open('v8js.heap.space.name', 'the part of the heap, as V8 names it');

/** The process, by OpenTelemetry's conventions for Node.js. */
export const processMetrics = {
  'nodejs.eventloop.delay.min': delay('the shortest'),
  'nodejs.eventloop.delay.max': delay('the longest'),
  'nodejs.eventloop.delay.mean': delay('the mean'),
  'nodejs.eventloop.delay.stddev': delay('the standard deviation'),
  'nodejs.eventloop.delay.p50': delay('the median'),
  'nodejs.eventloop.delay.p99': gauge({
    unit: 's',
    what: 'Event loop delay since the last collection: the 99th percentile',
    use: 'Alert when it is above one second for five minutes.',
  }),
  'nodejs.eventloop.utilization': gauge({
    unit: '1',
    what: 'Share of time since the start in which the event loop was busy',
    use: 'Near 1 this instance is at its limit: add one, if there are partitions left.',
  }),
  'device_messaging.log.lines.dropped': counter({
    unit: '{line}',
    what: 'Lines of the log that were dropped',
    use: 'What reads standard output stood still: look at the log driver of the container engine, and its disk.',
  }),
  'process.cpu.time': counter(
    {
      unit: 's',
      what: 'Processor time of the process',
      use: 'Its rate is the number of processors in use.',
    },
    closed('cpu.mode', 'user or system', ['user', 'system']),
  ),
  'process.memory.usage': updowncounter({
    unit: 'By',
    what: 'Physical memory of the process',
    use: 'Alert when it comes near the limit of the container.',
  }),
  'process.uptime': gauge({
    unit: 's',
    what: 'Time since the process started',
    use: 'A restart sets it to 0. Alert on several within an hour.',
  }),
  'v8js.memory.heap.used': updowncounter(
    { unit: 'By', what: 'Memory in use in the heap', use: 'Where the memory of the process goes.' },
    space,
  ),
  'v8js.memory.heap.limit': updowncounter(
    { unit: 'By', what: 'Memory that is reserved for the heap', use: 'Where the memory of the process goes.' },
    space,
  ),
} as const;
