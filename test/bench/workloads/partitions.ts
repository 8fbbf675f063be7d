import { absoluteOf, type Contestant, compare, cpuRatio, inArena, throughputOf } from '../compare.ts';
import type { Kind } from '../processes/messages.ts';
import type { Row } from '../row.ts';
import { figure } from '../statistics.ts';
import type { Context, Result, Workload } from './workload.ts';

const devices = 1_000;

/** Numbers of partitions that an installation may have. */
export const sizes = [1, 4, 8, 32];
const base = 4;

const kinds = { update: 'updates', telemetry: 'skips' } as const satisfies Partial<Record<Kind, string>>;

/** What a program of this workload is called. */
export const partitionsOf = (kind: keyof typeof kinds, partitions: number): string =>
  `${kinds[kind]}, ${partitions} partition${partitions === 1 ? '' : 's'}`;

export const partitions: Workload = {
  name: 'partitions',
  about: `what one instance handles a second, of updates and of telemetry that is not ours, with ${sizes.join(', ')} partitions`,
  async run(context) {
    const update = await measure('update', context);
    const skip = await measure('telemetry', context);
    return { rows: [...update.rows, ...skip.rows], absolute: [...update.absolute, ...skip.absolute], notes: [] };
  },
  versus: (context) =>
    Object.fromEntries(
      [...contestantsOf('update', context), ...contestantsOf('telemetry', context)].map(([name, one]) => [
        name,
        inArena(one),
      ]),
    ),
};

function contestantsOf(kind: keyof typeof kinds, { quick }: Context): readonly (readonly [string, Contestant])[] {
  const messages = { update: quick ? 600 : 5_000, telemetry: quick ? 5_000 : 50_000 }[kind];
  const warmUp = kind === 'update' ? 2 * messages : messages;
  const contestant = (partitions: number): Contestant => ({
    options: { program: 'service', devices, partitions },
    load: (round) => ({ kind, messages: round === 0 ? warmUp : messages, devices, atOnce: true }),
  });
  return sizes.map((size) => [partitionsOf(kind, size), contestant(size)]);
}

async function measure(kind: keyof typeof kinds, context: Context): Promise<Omit<Result, 'notes'>> {
  const rounds = Math.ceil(context.rounds / 2);
  const costs = await compare(Object.fromEntries(contestantsOf(kind, context)), { ...context, rounds });
  const rows = sizes.map((size): Row => {
    const measure = partitionsOf(kind, size);
    const isGoal = kind === 'telemetry' && size === 1;
    return {
      measure,
      figure: figure(throughputOf(costs[measure] ?? [])),
      unit: '/s',
      ...(isGoal && { goal: { atLeast: 15_000 } }),
    };
  });
  const growth = sizes
    .filter((size) => size !== base)
    .map(
      (size): Row => ({
        measure: `CPU, ${partitionsOf(kind, size)} / ${base}`,
        figure: cpuRatio(costs, partitionsOf(kind, size), partitionsOf(kind, base)),
        unit: '×',
        ...(kind === 'update' && { goal: { atLeast: 0.85, atMost: 1.15 } }),
      }),
    );
  return { rows: [...rows, ...growth], absolute: absoluteOf(costs) };
}
