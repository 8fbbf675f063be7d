import { openArena } from '../processes/arena.ts';
import type { Load } from '../processes/hub.ts';
import { deviceId } from '../processes/messages.ts';
import { figure, percentile, ratios } from '../statistics.ts';
import type { Workload } from './workload.ts';

const others = 100;
const hanging = others;
const flooding = others + 1;

export const isolation: Workload = {
  name: 'isolation',
  about: `${others} devices send 100 updates a second, while one device hangs and one floods`,
  async run({ quick, rounds, progress }) {
    const quiet: Load = { kind: 'update', messages: quick ? 200 : 1_000, devices: others, rate: 100 };
    const [without, beside]: [number[], number[]] = [[], []];
    for (let round = 0; round < Math.min(rounds, 5); round += 1) {
      const arena = await openArena({ program: 'service', devices: others + 2 });
      try {
        await arena.run({ ...quiet, messages: quick ? 500 : 2_000, rate: 500 });
        progress(`round ${round + 1}: without trouble`);
        without.push(percentile((await arena.run(quiet)).latencies, 0.99));
        progress(`round ${round + 1}: beside a device that hangs and one that floods`);
        await arena.hang(deviceId(hanging));
        await arena.hub.call('disturb', { hanging, flooding, ratePerSecond: 500 });
        await arena.hub.call('send', quiet);
        beside.push(percentile((await arena.served(quiet)).latencies, 0.99));
      } finally {
        await arena.stop();
      }
    }
    return {
      rows: [
        {
          measure: 'p99 of the others, with / without',
          figure: ratios(beside, without),
          unit: '×',
          goal: { atMost: 1.2 },
        },
      ],
      absolute: [
        { program: 'without them', figures: [{ what: 'p99', figure: figure(without), unit: 'ms' }] },
        { program: 'beside them', figures: [{ what: 'p99', figure: figure(beside), unit: 'ms' }] },
      ],
      notes: [],
    };
  },
};
