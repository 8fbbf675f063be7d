import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { figure, row } from '../figures.ts';
import { openArena } from '../processes/arena.ts';
import { residentOf } from '../processes/program.ts';
import { anew, type Measures, type Workload } from './workload.ts';

const [time, cpu, memory] = ['time until ready, s', 'CPU until ready, s', 'memory when ready, MB'] as const;

async function measure(build: string) {
  const arena = await openArena({ program: 'service', devices: 1, build });
  try {
    const { pid, start } = arena.program;
    return { [time]: start.readyMs / 1000, [cpu]: start.cpu / 1e6, [memory]: residentOf(pid) } satisfies Measures;
  } finally {
    await arena.stop();
  }
}

export const start: Workload = {
  name: 'start',
  about: 'from the start of the process until /readyz says ready',
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
