import { absoluteOf, type Contestant, compare, cpuRatio, inArena } from '../compare.ts';
import type { Context, Workload } from './workload.ts';

const base = 1_000;
const sizes = [base, 10, 50_000];

const nameOf = (devices: number): string => `${devices.toLocaleString('en')} devices`;

function contestant(devices: number, { quick }: Context): Contestant {
  const messages = quick ? 600 : 5_000;
  return {
    options: { program: 'service', devices },
    load: (round) => ({ kind: 'update', messages: round === 0 && !quick ? 2 * messages : messages, devices }),
  };
}

export const growth: Workload = {
  name: 'growth',
  about: 'update with 10 to 50,000 devices, beside 1,000',
  async run(context) {
    const rounds = context.quick ? 1 : Math.ceil(context.rounds / 2);
    const contestants = sizes.map((devices) => [nameOf(devices), contestant(devices, context)] as const);
    const costs = await compare(Object.fromEntries(contestants), { ...context, rounds });
    return {
      rows: sizes.slice(1).map((devices) => ({
        measure: `CPU, ${nameOf(devices)} / ${nameOf(base)}`,
        figure: cpuRatio(costs, nameOf(devices), nameOf(base)),
        unit: '×',
        goal: { atLeast: 0.85, atMost: 1.15 },
      })),
      absolute: absoluteOf(costs),
      notes: [],
    };
  },
  versus: (context) =>
    Object.fromEntries(sizes.map((devices) => [nameOf(devices), inArena(contestant(devices, context))])),
};
