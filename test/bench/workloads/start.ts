import { setTimeout as sleep } from 'node:timers/promises';
import { openStage, untilQuiet } from '../processes/arena.ts';
import { cpuOf, residentOf } from '../processes/program.ts';
import { alone, anew } from './workload.ts';

export const start = alone({
  name: 'start',
  about: 'from the start of the process until /readyz says ready',
  isCold: true,
  most: 10,
  goals: { 'time until ready, s': { atMost: 0.8 }, 'CPU until ready, s': { atMost: 0.6 } },
  parts: () => ({
    '': anew(async (build) => {
      const stage = await openStage(1, 4);
      try {
        const { pid, start } = await stage.start({ program: 'service', build });
        return {
          ...{ 'time until ready, s': start.readyMs / 1000, 'CPU until ready, s': start.cpu / 1e6 },
          'memory when ready, MB': residentOf(pid),
        };
      } finally {
        await stage.close();
      }
    }),
  }),
});

/** Of a service that has partitions without events, once its start is over. */
async function idleFor(build: string, quick: boolean, partitions: number) {
  const stage = await openStage(1, partitions);
  try {
    const { pid } = await stage.start({ program: 'service', build });
    await sleep(quick ? 1_000 : 10_000); // it claims its partitions
    await untilQuiet(pid);
    const [began, before] = [performance.now(), cpuOf(pid)];
    await sleep(quick ? 5_000 : 60_000);
    const minutes = (performance.now() - began) / 60_000;
    return { 'CPU of a minute, s': (cpuOf(pid) - before) / minutes / 1e6, 'memory, MB': residentOf(pid) };
  } finally {
    await stage.close();
  }
}

const sizes = [4, 32];

export const idle = alone({
  name: 'idle',
  about: `a minute with ${sizes.join(' and ')} partitions without events`,
  most: 4,
  parts: ({ quick }) =>
    Object.fromEntries(sizes.map((size) => [`${size} partitions`, anew((build) => idleFor(build, quick, size))])),
});
