import { absoluteOf, compare, cpuRatio } from '../compare.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;

/** Messages a second, less than the hub of the bench can send: at its limit, chance decides how full each batch is. */
const rate = 8_000;

/** A batch for each partition. */
const burst = 400;

export const skip: Workload = {
  name: 'skip',
  about: '1 KiB telemetry that is not ours, 4 partitions',
  async run(context) {
    const messages = context.quick ? rate : 4 * rate;
    const common = { load: () => ({ kind: 'telemetry', messages, devices, rate, burst }) as const };
    const costs = await compare(
      {
        service: { options: { program: 'service', devices }, ...common },
        'no-op': { options: { program: 'idle', devices }, ...common },
      },
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
};
