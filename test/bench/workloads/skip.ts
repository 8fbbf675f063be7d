import { compare, cpuRatio, usage } from '../compare.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;

export const skip: Workload = {
  name: 'skip',
  about: '1 KiB telemetry that is not ours, 4 partitions',
  async run(context) {
    const messages = context.quick ? 20_000 : 60_000;
    const common = { load: () => ({ kind: 'telemetry', messages, devices }) as const };
    const costs = await compare(
      {
        service: { options: { program: 'service', devices }, ...common },
        'no-op': { options: { program: 'idle', devices }, ...common },
      },
      context,
    );
    return {
      rows: [{ measure: 'CPU, service / no-op consumer', figure: cpuRatio(costs, 'service', 'no-op'), unit: '×' }],
      notes: usage(costs),
    };
  },
};
