import { setTimeout as sleep } from 'node:timers/promises';
import { openArena } from '../processes/arena.ts';
import { residentOf } from '../processes/usage.ts';
import { figure } from '../statistics.ts';
import type { Workload } from './workload.ts';

const everyMs = 250;

export const backlog: Workload = {
  name: 'backlog',
  about: 'events that wait when the service starts, one in twenty ours',
  async run({ quick, progress }) {
    const messages = quick ? 100_000 : 1_000_000;
    const arena = await openArena({ program: 'service', devices: 1_000 });
    try {
      progress(`${messages} events`);
      const memory: { readonly at: number; readonly megabytes: number }[] = [];
      let isServed = false;
      const sampling = (async () => {
        for (const began = performance.now(); !isServed; await sleep(everyMs)) {
          memory.push({ at: (performance.now() - began) / 60_000, megabytes: residentOf(arena.program.pid) });
        }
      })();
      const cost = await arena.run({ kind: 'update', messages, devices: 1_000, oneIn: 20 });
      isServed = true;
      await sampling;
      if (cost.faults.length > 0) throw new Error(cost.faults.join('\n'));
      return {
        rows: [
          {
            measure: 'most resident memory',
            figure: figure([residentOf(arena.program.pid, 'VmHWM')]),
            unit: 'MB',
            aim: '≤ 200',
          },
          // The first third is start and warm-up.
          {
            measure: 'slope of it, later two thirds',
            figure: figure([slope(memory.slice(memory.length / 3))]),
            unit: 'MB/min',
            aim: 'flat',
          },
        ],
        notes: [`${((messages / cost.wallMs) * 1000).toFixed(0)} events a second, ${cost.cpu.toFixed(0)} µs each`],
      };
    } finally {
      await arena.stop();
    }
  },
};

/** Least squares, in megabytes a minute. */
function slope(points: readonly { readonly at: number; readonly megabytes: number }[]): number {
  const mean = (read: (point: (typeof points)[number]) => number) =>
    points.reduce((sum, point) => sum + read(point), 0) / points.length;
  const [at, megabytes] = [mean((point) => point.at), mean((point) => point.megabytes)];
  const above = mean((point) => (point.at - at) * (point.megabytes - megabytes));
  return above / mean((point) => (point.at - at) ** 2);
}
