import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics as spaces } from 'node:v8';
import { droppedLines } from './log.ts';
import { closed, counter, gauge, type Meter, open, updowncounter } from './meter.ts';

const holdsUp =
  'A long delay holds up everything: a processor that is too slow or throttled, or work that never pauses.';
const delay = (which: string, use = holdsUp) => gauge('s')(`Event loop delay since the last collection: ${which}`, use);

const ofHeap = (what: string) =>
  updowncounter('By')(what, 'Where the memory of the process goes.', [
    open('v8js.heap.space.name', 'the part of the heap, as V8 names it'),
  ]);

const modes = ['user', 'system'] as const;

/** The process, by OpenTelemetry's conventions for Node.js. */
export const processMetrics = {
  'nodejs.eventloop.delay.min': delay('the shortest'),
  'nodejs.eventloop.delay.max': delay('the longest'),
  'nodejs.eventloop.delay.mean': delay('the mean'),
  'nodejs.eventloop.delay.stddev': delay('the standard deviation'),
  'nodejs.eventloop.delay.p50': delay('the median'),
  'nodejs.eventloop.delay.p99': delay('the 99th percentile', 'Alert when it is above one second for ten minutes.'),
  'nodejs.eventloop.utilization': gauge('1')(
    'Share of time since the start in which the event loop was busy',
    'Near 1 this instance is at its limit: add one, if there are partitions left.',
  ),
  'device_messaging.log.lines.dropped': counter('{line}')(
    'Lines of the log that were dropped',
    'What reads standard output stood still: look at the log driver of the container engine, and its disk.',
  ),
  'process.cpu.time': counter('s')('Processor time of the process', 'Its rate is the number of processors in use.', [
    closed('cpu.mode', 'user or system', modes),
  ]),
  'process.memory.usage': updowncounter('By')(
    'Physical memory of the process',
    'Alert when it comes near the limit of the container.',
  ),
  'process.uptime': gauge('s')(
    'Time since the process started',
    'A restart sets it to 0. Alert on several within an hour.',
  ),
  'v8js.memory.heap.used': ofHeap('Memory in use in the heap'),
  'v8js.memory.heap.limit': ofHeap('Memory that is reserved for the heap'),
} as const;

/** The timer of the measurement; Node includes its interval in the values. */
const resolutionMs = 100;

/** All values of one collection come from one look, and two collectors at nearly the same time see the same. */
const sameLookMs = 1_000;

/** Registers the metrics of the process. @returns ends the measuring */
export function observeProcess(meter: Meter<typeof processMetrics>, dropped = droppedLines): () => void {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let delays = { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p99: 0 };
  const secondsOf = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1e3);

  function recent() {
    const now = performance.now();
    // Without a sample, the mean is not a number.
    if (now - lookedAt > sameLookMs && Number.isFinite(histogram.mean)) {
      lookedAt = now;
      const [min = 0, max = 0, mean = 0] = [histogram.min, histogram.max, histogram.mean].map(secondsOf);
      const [p50 = 0, p99 = 0] = [50, 99].map((share) => secondsOf(histogram.percentile(share)));
      delays = { min, max, mean, stddev: histogram.stddev / 1e9, p50, p99 };
      histogram.reset();
    }
    return delays;
  }

  for (const value of Object.keys(delays) as (keyof typeof delays)[])
    meter.observe(`nodejs.eventloop.delay.${value}`, () => [[recent()[value]]]);
  meter.observe('nodejs.eventloop.utilization', () => [[performance.eventLoopUtilization().utilization]]);
  meter.observe('device_messaging.log.lines.dropped', () => [[dropped()]]);
  meter.observe('process.cpu.time', () => {
    const used = process.cpuUsage();
    return modes.map((mode) => [used[mode] / 1e6, mode]);
  });
  meter.observe('process.memory.usage', () => [[process.memoryUsage.rss()]]);
  meter.observe('process.uptime', () => [[process.uptime()]]);
  meter.observe('v8js.memory.heap.used', () => spaces().map((one) => [one.space_used_size, one.space_name]));
  meter.observe('v8js.memory.heap.limit', () => spaces().map((one) => [one.space_size, one.space_name]));
  return () => histogram.disable();
}
