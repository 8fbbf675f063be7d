import { compare, cpuRatio, throughputOf, usage } from '../compare.ts';
import { ratios } from '../statistics.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;

export const update: Workload = {
  name: 'update',
  about: 'model.update, ack=all, 1 KiB body of 30 members, 1,000 devices, backends answer at once',
  async run(context) {
    const messages = context.quick ? 2_500 : 5_000;
    const load = (count: number) => (round: number) =>
      ({ kind: 'update', messages: round === 0 ? 2 * messages : count, devices }) as const;
    // A program that is fast does more of it, so that each is measured for seconds.
    const ofFloor = context.quick ? messages : 4 * messages;
    const costs = await compare(
      {
        service: { options: { program: 'service', devices }, load: load(messages) },
        floor: { options: { program: 'floor', devices }, load: load(ofFloor) },
        usual: { options: { program: 'usual', devices }, load: load(messages / 5) }, // it takes its time
      },
      context,
    );
    const speed = ratios(throughputOf(costs.service), throughputOf(costs.usual));
    return {
      rows: [
        { measure: 'CPU, service / floor', figure: cpuRatio(costs, 'service', 'floor'), unit: '×', aim: '≤ 2.5' },
        { measure: 'CPU, usual / service', figure: cpuRatio(costs, 'usual', 'service'), unit: '×', aim: '≥ 2.5' },
        { measure: 'throughput, service / usual', figure: speed, unit: '×', aim: '≥ 2.5' },
      ],
      notes: usage(costs),
    };
  },
};
