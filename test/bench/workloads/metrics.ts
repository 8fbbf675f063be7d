import { compare, cpuRatio, usage } from '../compare.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;

export const metrics: Workload = {
  name: 'metrics',
  about: 'update, with metrics and without them (OTEL_SDK_DISABLED)',
  async run(context) {
    const messages = context.quick ? 2_500 : 5_000;
    const load = (round: number) =>
      ({ kind: 'update', messages: round === 0 ? 2 * messages : messages, devices }) as const;
    const environment = { OTEL_SDK_DISABLED: 'true' };
    const costs = await compare(
      {
        service: { options: { program: 'service', devices }, load },
        'without metrics': { options: { program: 'service', devices, environment }, load },
      },
      context,
    );
    const figure = cpuRatio(costs, 'service', 'without metrics');
    return {
      rows: [{ measure: 'CPU, with / without metrics', figure, unit: '×', aim: '≤ 1.03' }],
      notes: usage(costs),
    };
  },
};
