import { type Contestant, compare, inArena } from '../compare.ts';
import type { Cost } from '../processes/arena.ts';
import { figure, percentile } from '../statistics.ts';
import type { Context, Workload } from './workload.ts';

const devices = 1_000;

const contestant = (program: 'service' | 'echo', { quick }: Context): Contestant => ({
  options: { program, devices },
  load: (round) =>
    round === 0
      ? { kind: 'update', messages: 2_000, devices, rate: 1_000 }
      : { kind: 'update', messages: quick ? 200 : 1_000, devices, rate: 100 },
  answersOnly: program === 'echo',
});

export const latency: Workload = {
  name: 'latency',
  about: 'update at 100 a second, from the hub’s log to the device’s queue; beside bare rhea that answers at once',
  async run(context) {
    const costs = await compare(
      { service: contestant('service', context), rhea: contestant('echo', context) },
      { ...context, rounds: Math.min(context.rounds, 5) },
    );
    const at = (costs: readonly Cost[], share: number) =>
      figure(costs.map(({ latencies }) => percentile(latencies, share)));
    return {
      rows: [
        { measure: 'p50', figure: at(costs.service, 0.5), unit: 'ms', goal: { atMost: 6 } },
        { measure: 'p99', figure: at(costs.service, 0.99), unit: 'ms', goal: { atMost: 20 } },
      ],
      absolute: (['service', 'rhea'] as const).map((program) => ({
        program,
        figures: [
          { what: 'p50', figure: at(costs[program], 0.5), unit: 'ms' },
          { what: 'p99', figure: at(costs[program], 0.99), unit: 'ms' },
        ],
      })),
      notes: [],
    };
  },
  versus: (context) => ({ '': inArena(contestant('service', context)) }),
};
