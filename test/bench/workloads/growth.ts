import { absoluteOf, compare, cpuRatio } from '../compare.ts';
import type { Workload } from './workload.ts';

interface Size {
  readonly devices: number;
  readonly partitions: number;
}

const base: Size = { devices: 1_000, partitions: 4 };
const grown: readonly Size[] = [
  { devices: 10, partitions: 4 },
  { devices: 50_000, partitions: 4 },
  { devices: 1_000, partitions: 1 },
  { devices: 1_000, partitions: 32 },
];

const nameOf = ({ devices, partitions }: Size): string =>
  `${devices.toLocaleString('en')} devices, ${partitions} partition${partitions === 1 ? '' : 's'}`;

export const growth: Workload = {
  name: 'growth',
  about: 'update with 10 to 50,000 devices and 1 to 32 partitions, beside 1,000 devices and 4 partitions',
  async run(context) {
    const messages = context.quick ? 600 : 5_000;
    const rounds = context.quick ? 1 : Math.ceil(context.rounds / 2);
    const contestant = (size: Size) => ({
      options: { program: 'service', ...size } as const,
      load: (round: number) =>
        ({
          kind: 'update',
          messages: round === 0 && !context.quick ? 2 * messages : messages,
          devices: size.devices,
        }) as const,
    });
    const contestants = Object.fromEntries([base, ...grown].map((size) => [nameOf(size), contestant(size)]));
    const costs = await compare(contestants, { ...context, rounds });
    const rows = grown.map((size) => ({
      measure: `CPU, ${nameOf(size)} / ${nameOf(base)}`,
      figure: cpuRatio(costs, nameOf(size), nameOf(base)),
      unit: '×' as const,
      goal: { atLeast: 0.85, atMost: 1.15 },
    }));
    return { rows, absolute: absoluteOf(costs), notes: [] };
  },
};
