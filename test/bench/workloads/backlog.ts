import { setTimeout as sleep } from 'node:timers/promises';
import { absoluteOf } from '../compare.ts';
import { openArena } from '../processes/arena.ts';
import { residentOf } from '../processes/usage.ts';
import type { Row } from '../row.ts';
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
            goal: { atMost: 200 },
          },
          // The first third is start and warm-up. A quick run is over before there is a slope.
          ...(quick ? [] : [slopeOf(memory.slice(memory.length / 3))]),
        ],
        absolute: absoluteOf({ service: [cost] }),
        notes: quick ? ['no slope: so few events are read within seconds'] : [],
      };
    } finally {
      await arena.stop();
    }
  },
};

/** Least squares, in megabytes a minute. */
function slopeOf(points: readonly { readonly at: number; readonly megabytes: number }[]): Row {
  const mean = (read: (point: (typeof points)[number]) => number) =>
    points.reduce((sum, point) => sum + read(point), 0) / points.length;
  const [at, megabytes] = [mean((point) => point.at), mean((point) => point.megabytes)];
  const above = mean((point) => (point.at - at) * (point.megabytes - megabytes));
  return {
    measure: 'slope of it, later two thirds',
    figure: figure([above / mean((point) => (point.at - at) ** 2)]),
    unit: 'MB/min',
    goal: { atMost: 5 },
  };
}
