import { openArena } from '../processes/arena.ts';
import type { Load } from '../processes/hub.ts';
import { deviceId } from '../processes/messages.ts';
import { figure, percentile, ratios } from '../statistics.ts';
import type { Workload } from './workload.ts';

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

export const isolation: Workload = {
  name: 'isolation',
  about: `${others} devices send 100 updates a second, while one device hangs and one floods`,
  async run({ quick, rounds, progress }) {
    const load: Load = { kind: 'update', messages: quick ? 200 : 1_000, devices: others, rate: 100 };
    const p99 = Object.fromEntries(situations.map((situation) => [situation, [] as number[]])) as Record<
      (typeof situations)[number],
      number[]
    >;
    for (let round = 1; round <= Math.min(rounds, 5); round += 1) {
      const arena = await openArena({ program: 'service', devices: others + 2 + spread.length });
      const measure = async (situation: (typeof situations)[number]) => {
        progress(`round ${round}: ${situation}`);
        await arena.hub.call('send', load);
        p99[situation].push(percentile((await arena.served(load)).latencies, 0.99));
      };
      try {
        await arena.run({ ...load, messages: quick ? 500 : 2_000, rate: 500 });
        await measure(alone);
        await arena.hub.call('disturb', { devices: spread, ratePerSecond });
        await measure(busy);
        await arena.hang(deviceId(hanging));
        await arena.hub.call('hang', hanging);
        await arena.hub.call('disturb', { devices: [flooding], ratePerSecond });
        await measure(troubled);
      } finally {
        await arena.stop();
      }
    }
    return {
      rows: [
        {
          measure: 'p99 of the others, beside a flood / beside as much of 500 devices',
          figure: ratios(p99[troubled], p99[busy]),
          unit: '×',
          goal: { atMost: 1.2 },
        },
        { measure: 'p99 of the others, beside a flood / alone', figure: ratios(p99[troubled], p99[alone]), unit: '×' },
      ],
      absolute: situations.map((program) => ({
        program,
        figures: [{ what: 'p99', figure: figure(p99[program]), unit: 'ms' }],
      })),
      notes: [],
    };
  },
};
