import { absoluteOf, type Contestant, compare, inArena, throughputOf } from '../compare.ts';
import type { Arena } from '../processes/arena.ts';
import type { Goal } from '../row.ts';
import { ratios } from '../statistics.ts';
import type { Context, Result, Workload } from './workload.ts';

const devices = 1_000;
const delayMs = 20;
/** `BACKENDS_CONNECTIONS`: what the service may have under way at one backend. */
const connections = 128;
/** Messages a second that these connections allow. */
const allowed = connections / (delayMs / 1000);

export const waiting: Workload = {
  name: 'waiting',
  about: `update with 4 and 32 partitions, but each call of a backend takes ${delayMs} ms`,
  async run(context) {
    const few = await measure(4, context, { atLeast: 20 });
    const many = await measure(32, context); // the usual program handles partitions side by side
    return { rows: [...few.rows, ...many.rows], absolute: [...few.absolute, ...many.absolute], notes: [] };
  },
  versus: (context) =>
    Object.fromEntries(
      [4, 32].map((partitions) => [
        `${partitions} partitions`,
        inArena({ ...serviceWith(partitions, context), prepare }),
      ]),
    ),
};

const prepare = (arena: Arena) => arena.delay(delayMs);
const load = (messages: number) => () => ({ kind: 'update', messages, devices, atOnce: true }) as const;

const serviceWith = (partitions: number, { quick }: Context): Contestant => ({
  options: { program: 'service', devices, partitions },
  load: load(quick ? 1_500 : 15_000),
});

async function measure(partitions: number, context: Context, goal?: Goal): Promise<Omit<Result, 'notes'>> {
  const service = serviceWith(partitions, context);
  const usual = {
    options: { program: 'usual', devices, partitions },
    load: load((context.quick ? 15 : 125) * partitions),
  } as const;
  const costs = await compare(
    { service: { ...service, prepare }, 'service without delay': service, usual: { ...usual, prepare } },
    { ...context, rounds: Math.ceil(context.rounds / 4) },
  );
  const speed = throughputOf(costs.service);
  const possible = throughputOf(costs['service without delay']).map((fast) => Math.min(fast, allowed));
  return {
    rows: [
      {
        measure: `throughput, service / usual, ${partitions} partitions`,
        figure: ratios(speed, throughputOf(costs.usual)),
        unit: '×',
        ...(goal && { goal }),
      },
      {
        measure: `throughput / what is possible, ${partitions} partitions`,
        figure: ratios(speed, possible),
        unit: '×',
        goal: { atLeast: 0.8 },
      },
    ],
    absolute: absoluteOf(costs).map(({ program, ...used }) => ({ program: `${program}, ${partitions}`, ...used })),
  };
}
