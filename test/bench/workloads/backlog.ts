import { projectDirectory } from '../../../sandbox/state/directories.ts';
import type { Served } from '../processes/hub.ts';
import { openStage } from '../processes/stage.ts';
import { untilAnswered } from '../processes/untilAnswered.ts';
import { cpuOf, residentOf } from '../processes/usage.ts';
import type { Row } from '../row.ts';
import { figure } from '../statistics.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;
const partitions = 4;
const messagesOf = (quick: boolean) => (quick ? 50_000 : 1_000_000);

export const backlog: Workload = {
  name: 'backlog',
  about: 'events that wait when the service starts, one in twenty ours',
  async run({ quick, progress }) {
    const messages = messagesOf(quick);
    const { most, cpu, perSecond, memory } = await read(projectDirectory, messages, progress);
    return {
      rows: [
        { measure: 'most resident memory', figure: figure([most]), unit: 'MB', goal: { atMost: 200 } },
        // The first third is start and warm-up. A quick run is over before there is a slope.
        ...(quick ? [] : [slopeOf(memory.slice(memory.length / 3))]),
      ],
      absolute: [
        {
          program: 'service',
          figures: [
            { what: 'CPU', figure: figure([cpu]), unit: 'µs' },
            { what: 'events', figure: figure([perSecond]), unit: '/s' },
          ],
        },
      ],
      notes: quick ? ['no slope: so few events are read within seconds'] : [],
    };
  },
  versus: ({ quick, progress }) => ({
    '': async (build) => ({
      isNewEachTime: true,
      async measure() {
        const { most, cpu, perSecond } = await read(build, messagesOf(quick), progress);
        return { 'most memory, MB': most, 'CPU, µs': cpu, 'events, /s': perSecond };
      },
      close: async () => {},
    }),
  }),
};

/** What it costs to read so many events that wait. */
async function read(build: string, messages: number, progress: (what: string) => void) {
  const stage = await openStage(devices, partitions);
  try {
    progress(`${messages} events are written`);
    await stage.hub.call('send', { kind: 'update', messages, devices, oneIn: 20 });
    progress(`${messages} events are read`);
    const began = performance.now();
    const program = await stage.start({ program: 'service', build });
    const memory: { readonly at: number; readonly megabytes: number }[] = [];
    await untilAnswered(stage.hub, program, () => {
      memory.push({ at: (performance.now() - began) / 60_000, megabytes: residentOf(program.pid) });
    });
    const perSecond = (messages / (performance.now() - began)) * 1000;
    const [most, cpu] = [residentOf(program.pid, 'VmHWM'), cpuOf(program.pid) / messages];
    const { faults } = await stage.hub.call<Served>('served');
    if (faults.length > 0) throw new Error(faults.join('\n'));
    return { most, cpu, perSecond, memory };
  } finally {
    await stage.close();
  }
}

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
