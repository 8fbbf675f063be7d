import { compare, cpuRatio, usage } from '../compare.ts';
import type { Row, Workload } from './workload.ts';

const base = { devices: 1_000, partitions: 4 };
const sizes = [
  { devices: 10, partitions: 4 },
  { devices: 50_000, partitions: 4 },
  { devices: 1_000, partitions: 1 },
  { devices: 1_000, partitions: 32 },
];

export const growth: Workload = {
  name: 'growth',
  about: 'update with 10 to 50,000 devices and 1 to 32 partitions, beside 1,000 devices and 4 partitions',
  async run(context) {
    const rows: Row[] = [];
    const notes: string[] = [];
    const messages = context.quick ? 2_000 : 10_000;
    const rounds = context.quick ? 1 : Math.ceil(context.rounds / 2);
    const contestant = (size: typeof base) =>
      ({
        options: { program: 'service', ...size },
        load: () => ({ kind: 'update', messages, devices: size.devices }) as const,
      }) as const;
    for (const size of sizes) {
      const title = `${size.devices.toLocaleString('en')} devices, ${size.partitions} partition${size.partitions === 1 ? '' : 's'}`;
      const progress = (what: string) => context.progress(`${title}: ${what}`);
      const costs = await compare(
        { grown: contestant(size), base: contestant(base) },
        { ...context, rounds, progress },
      );
      rows.push({
        measure: `CPU, ${title} / 1,000 devices, 4 partitions`,
        figure: cpuRatio(costs, 'grown', 'base'),
        unit: '×',
      });
      notes.push(...usage(costs).map((line) => `${title}: ${line}`));
    }
    return { rows, notes };
  },
};
