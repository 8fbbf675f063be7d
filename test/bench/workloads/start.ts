import { setTimeout as sleep } from 'node:timers/promises';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { figure, ratios, row } from '../figures.ts';
import { openStage, untilQuiet } from '../processes/arena.ts';
import { cpuOf, type ProgramOptions, residentOf } from '../processes/program.ts';
import { anew, type Measures, type Workload } from './workload.ts';

const [time, cpu, memory] = ['time until ready, s', 'CPU until ready, s', 'memory when ready, MB'] as const;

async function measure(build: string) {
  const stage = await openStage(1, 4);
  try {
    const { pid, start } = await stage.start({ program: 'service', build });
    return { [time]: start.readyMs / 1000, [cpu]: start.cpu / 1e6, [memory]: residentOf(pid) } satisfies Measures;
  } finally {
    await stage.close();
  }
}

export const start: Workload = {
  name: 'start',
  about: 'from the start of the process until /readyz says ready',
  isCold: true,
  async run({ rounds: asked, progress }) {
    const rounds = Math.ceil(asked / 2);
    const measured: Awaited<ReturnType<typeof measure>>[] = [];
    for (let round = 0; round < rounds; round += 1) {
      progress(`round ${round + 1} of ${rounds}`);
      measured.push(await measure(projectDirectory));
    }
    const of = (name: typeof time | typeof cpu) => figure(measured.map((one) => one[name]));
    return {
      rows: [
        row('time until ready', of(time), 's', { atMost: 0.8 }),
        row('CPU until ready', of(cpu), 's', { atMost: 0.6 }),
      ],
      absolute: [],
    };
  },
  versus: () => ({ '': anew(measure) }),
};

const idleCpu = 'CPU of a minute, s';
const sizes = [4, 32];

/** Of a program that has partitions without events, once its start is over. */
async function idleFor(quick: boolean, partitions: number, options: ProgramOptions) {
  const stage = await openStage(1, partitions);
  try {
    const { pid } = await stage.start(options);
    await sleep(quick ? 1_000 : 10_000); // it claims its partitions
    await untilQuiet(pid);
    const [began, before] = [performance.now(), cpuOf(pid)];
    await sleep(quick ? 5_000 : 60_000);
    const minutes = (performance.now() - began) / 60_000;
    return { [idleCpu]: (cpuOf(pid) - before) / minutes / 1e6, 'memory, MB': residentOf(pid) } satisfies Measures;
  } finally {
    await stage.close();
  }
}

export const idle: Workload = {
  name: 'idle',
  about: `a minute with ${sizes.join(' and ')} partitions without events`,
  async run({ quick, rounds: asked, progress }) {
    const rounds = Math.ceil(asked / 5);
    const rows = [];
    for (const partitions of sizes) {
      const [ours, bare]: [number[], number[]] = [[], []];
      for (let round = 1; round <= rounds; round += 1) {
        progress(`round ${round} of ${rounds}: ${partitions} partitions`);
        for (const [program, into] of [['service', ours] as const, ['idle', bare] as const])
          into.push((await idleFor(quick, partitions, { program }))[idleCpu]);
      }
      rows.push(
        row(`${idleCpu}, ${partitions} partitions`, figure(ours), 's'),
        row(`CPU, service / no-op consumer, ${partitions} partitions`, ratios(ours, bare), '×'),
      );
    }
    return { rows, absolute: [] };
  },
  versus: ({ quick }) =>
    Object.fromEntries(
      sizes.map((partitions) => [
        `${partitions} partitions`,
        anew((build) => idleFor(quick, partitions, { program: 'service', build })),
      ]),
    ),
};
