import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { droppedLines } from './log.ts';
import type { Meter } from './meter.ts';
import type { processMetrics } from './processMetrics.ts';

const delayValues = ['min', 'max', 'mean', 'stddev', 'p50', 'p99'] as const;
type Delays = Readonly<Record<(typeof delayValues)[number], number>>;

/** The timer of the measurement; Node includes its interval in the values. */
const resolutionMs = 20;

/** All values of one collection come from one look, and two collectors at nearly the same time see the same. */
const sameLookMs = 1_000;

/** Registers the metrics of the process. @returns ends the measuring */
export function observeProcess(meter: Meter<typeof processMetrics>, dropped = droppedLines): () => void {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let delays: Delays = { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p99: 0 };

  function look(): Delays {
    const delay = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1e3);
    return {
      min: delay(histogram.min),
      max: delay(histogram.max),
      mean: delay(histogram.mean),
      stddev: histogram.stddev / 1e9,
      p50: delay(histogram.percentile(50)),
      p99: delay(histogram.percentile(99)),
    };
  }

  function recent(): Delays {
    const now = performance.now();
    // Without a sample, the mean is not a number.
    if (now - lookedAt > sameLookMs && Number.isFinite(histogram.mean)) {
      lookedAt = now;
      delays = look();
      histogram.reset();
    }
    return delays;
  }

  for (const value of delayValues) meter.observe(`nodejs.eventloop.delay.${value}`, () => [[recent()[value]]]);
  meter.observe('nodejs.eventloop.utilization', () => [[performance.eventLoopUtilization().utilization]]);
  meter.observe('device_messaging.log.lines.dropped', () => [[dropped()]]);
  meter.observe('process.cpu.time', () => {
    const { user, system } = process.cpuUsage();
    return [
      [user / 1e6, 'user'],
      [system / 1e6, 'system'],
    ];
  });
  meter.observe('process.memory.usage', () => [[process.memoryUsage.rss()]]);
  meter.observe('process.uptime', () => [[process.uptime()]]);
  meter.observe('v8js.memory.heap.used', () =>
    getHeapSpaceStatistics().map(({ space_used_size: bytes, space_name: name }) => [bytes, name] as const),
  );
  meter.observe('v8js.memory.heap.limit', () =>
    getHeapSpaceStatistics().map(({ space_size: bytes, space_name: name }) => [bytes, name] as const),
  );
  return () => histogram.disable();
}
