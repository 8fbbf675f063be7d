import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { percentile, ratios, row, used } from '../figures.ts';
import { openArena } from '../processes/arena.ts';
import type { Load } from '../processes/hub.ts';
import { deviceId } from '../processes/messages.ts';
import { anew, type Workload } from './workload.ts';

const others = 100;
const hanging = others;
const flooding = others + 1;
/** As many messages as the one that floods, of as many devices. */
const spread = Array.from({ length: 500 }, (_, nth) => flooding + 1 + nth);
const ratePerSecond = spread.length;

const situations = [
  'alone',
  'beside 500 a second of 500 devices',
  'beside 500 a second of one, and one that hangs',
] as const;
const [alone, busy, troubled] = situations;

const others99 = 'p99 of the others';

type Situation = (typeof situations)[number];

/** The p99 of the others in each situation, in ms. */
async function measure(build: string, quick: boolean, progress: (what: string) => void) {
  const load: Load = { kind: 'update', messages: quick ? 200 : 1_000, devices: others, rate: 100 };
  const arena = await openArena({ program: 'service', devices: others + 2 + spread.length, build });
  const p99In = async (situation: Situation) => {
    progress(situation);
    await arena.hub.call('send', load);
    return percentile((await arena.served(load)).latencies, 0.99);
  };
  try {
    await arena.run({ ...load, messages: quick ? 500 : 2_000, rate: 500 });
    const ofAlone = await p99In(alone);
    await arena.hub.call('disturb', { devices: spread, ratePerSecond });
    const ofBusy = await p99In(busy);
    await arena.hang(deviceId(hanging));
    await arena.hub.call('hang', hanging);
    await arena.hub.call('disturb', { devices: [flooding], ratePerSecond });
    return { [alone]: ofAlone, [busy]: ofBusy, [troubled]: await p99In(troubled) } satisfies Record<Situation, number>;
  } finally {
    await arena.stop();
  }
}

export const isolation: Workload = {
  name: 'isolation',
  about: `${others} devices send 100 updates a second, while one device hangs and one floods`,
  async run({ quick, rounds, progress }) {
    const p99 = Object.fromEntries(situations.map((situation) => [situation, [] as number[]])) as Record<
      Situation,
      number[]
    >;
    for (let round = 1; round <= Math.min(rounds, 5); round += 1) {
      const measured = await measure(projectDirectory, quick, (what) => progress(`round ${round}: ${what}`));
      for (const situation of situations) p99[situation].push(measured[situation]);
    }
    return {
      rows: [
        row(`${others99}, beside a flood / beside as much of 500 devices`, ratios(p99[troubled], p99[busy]), '×', {
          atMost: 1.2,
        }),
        row(`${others99}, beside a flood / alone`, ratios(p99[troubled], p99[alone]), '×'),
      ],
      absolute: situations.map((program) => used(program, { p99: [p99[program], 'ms'] })),
    };
  },
  versus: ({ quick, progress }) => ({ [`${others99}, ms`]: anew((build) => measure(build, quick, progress)) }),
};
