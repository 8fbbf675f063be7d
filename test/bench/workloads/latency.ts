import { compare } from '../compare.ts';
import type { Cost } from '../processes/arena.ts';
import { figure, percentile } from '../statistics.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;

export const latency: Workload = {
  name: 'latency',
  about: 'update at 100 messages a second, from the hub’s log to the device’s queue',
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
        echo: { options: { program: 'echo', devices }, ...common, answersOnly: true },
      },
      { ...context, rounds: Math.min(context.rounds, 5) },
    );
    const at = (costs: readonly Cost[], share: number) => costs.map(({ latencies }) => percentile(latencies, share));
    const above = (share: number) => {
      const echo = at(costs.echo, share);
      return figure(at(costs.service, share).map((ms, round) => ms - (echo[round] ?? Number.NaN)));
    };
    const median = (costs: readonly Cost[], share: number) => figure(at(costs, share)).median.toFixed(1);
    return {
      rows: [
        { measure: 'p50 above a consumer that answers at once', figure: above(0.5), unit: 'ms', aim: '≤ 3' },
        { measure: 'p99 above a consumer that answers at once', figure: above(0.99), unit: 'ms', aim: '≤ 10' },
      ],
      notes: (['service', 'echo'] as const).map(
        (program) => `${program}: p50 ${median(costs[program], 0.5)} ms, p99 ${median(costs[program], 0.99)} ms`,
      ),
    };
  },
};
