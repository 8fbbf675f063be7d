import { absoluteOf, type Contestant, compare, cpuRatio, inArena } from '../compare.ts';
import type { Context, Workload } from './workload.ts';

const devices = 1_000;

/** Messages a second, less than the hub of the bench can send: at its limit, chance decides how full each batch is. */
const rate = 8_000;

/** A batch for each partition. */
const burst = 400;

const contestant = (program: 'service' | 'idle', { quick }: Context): Contestant => ({
  options: { program, devices },
  load: () => ({ kind: 'telemetry', messages: quick ? rate : 4 * rate, devices, rate, burst }),
});

export const skip: Workload = {
  name: 'skip',
  about: '1 KiB telemetry that is not ours, 4 partitions',
  async run(context) {
    const costs = await compare(
      { service: contestant('service', context), 'no-op': contestant('idle', context) },
      context,
    );
    return {
      rows: [
        {
          measure: 'CPU, service / no-op consumer',
          figure: cpuRatio(costs, 'service', 'no-op'),
          unit: '×',
          goal: { atMost: 1.05 },
        },
      ],
      absolute: absoluteOf(costs),
      notes: [],
    };
  },
  versus: (context) => ({ '': inArena(contestant('service', context)) }),
};
