import { absoluteOf, compare, throughputOf } from '../compare.ts';
import type { Arena } from '../processes/arena.ts';
import { ratios } from '../statistics.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;
const delayMs = 20;
/** `BACKENDS_CONNECTIONS`: what the service may have under way at one backend. */
const connections = 128;
/** Messages a second that these connections allow. */
const allowed = connections / (delayMs / 1000);

export const waiting: Workload = {
  name: 'waiting',
  about: `update, but each call of a backend takes ${delayMs} ms`,
  async run(context) {
    const load = (messages: number) => () => ({ kind: 'update', messages, devices }) as const;
    const prepare = (arena: Arena) => arena.delay(delayMs);
    const service = {
      options: { program: 'service', devices },
      load: load(context.quick ? 2_000 : 15_000),
    } as const;
    const costs = await compare(
      {
        service: { ...service, prepare },
        'service without delay': service,
        usual: { options: { program: 'usual', devices }, prepare, load: load(context.quick ? 60 : 500) },
      },
      { ...context, rounds: Math.ceil(context.rounds / 4) },
    );
    const speed = throughputOf(costs.service);
    const possible = throughputOf(costs['service without delay']).map((fast) => Math.min(fast, allowed));
    return {
      rows: [
        {
          measure: 'throughput, service / usual',
          figure: ratios(speed, throughputOf(costs.usual)),
          unit: '×',
          goal: { atLeast: 20 },
        },
        {
          measure: 'throughput / what is possible: with its connections, or without delay',
          figure: ratios(speed, possible),
          unit: '×',
          goal: { atLeast: 0.8 },
        },
      ],
      absolute: absoluteOf(costs),
      notes: [],
    };
  },
};
