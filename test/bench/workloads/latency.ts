import { compare } from '../compare.ts';
import type { Cost } from '../processes/arena.ts';
import { figure, percentile } from '../statistics.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;

export const latency: Workload = {
  name: 'latency',
  about: 'update at 100 a second, from the hub’s log to the device’s queue; beside bare rhea that answers at once',
  async run(context) {
    const messages = context.quick ? 200 : 1_000;
    const common = {
      load: (round: number) =>
        ({
          kind: 'update',
          messages: round === 0 ? 2_000 : messages,
          devices,
          rate: round === 0 ? 1_000 : 100,
        }) as const,
    };
    const costs = await compare(
      {
        service: { options: { program: 'service', devices }, ...common },
        rhea: { options: { program: 'echo', devices }, ...common, answersOnly: true },
      },
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
};
