import { percentile } from '../figures.ts';
import { openArena } from '../processes/arena.ts';
import type { Load } from '../processes/hub.ts';
import { deviceId } from '../processes/messages.ts';
import { alone, anew, type Context } from './workload.ts';

const others = 100;
const hanging = others;
const flooding = others + 1;
/** As many messages as the one that floods, of as many devices. */
const spread = Array.from({ length: 500 }, (_, nth) => flooding + 1 + nth);
const ratePerSecond = spread.length;

/** The p99 of the others, in ms. */
async function measure(build: string, { quick, progress }: Context) {
  const load: Load = { kind: 'update', messages: quick ? 200 : 1_000, devices: others, rate: 100 };
  const arena = await openArena({ program: 'service', devices: others + 2 + spread.length, build });
  const p99 = async (situation: string) => {
    progress(situation);
    await arena.hub.call('send', load);
    return percentile((await arena.served(load)).latencies, 0.99);
  };
  try {
    await arena.run({ ...load, messages: quick ? 500 : 2_000, rate: 500 });
    const undisturbed = await p99('alone');
    await arena.hub.call('disturb', { devices: spread, ratePerSecond });
    const busy = await p99('beside 500 a second of 500 devices');
    await arena.hang(deviceId(hanging));
    await arena.hub.call('hang', hanging);
    await arena.hub.call('disturb', { devices: [flooding], ratePerSecond });
    const troubled = await p99('beside 500 a second of one, and one that hangs');
    return {
      ...{ 'p99 of the others alone, ms': undisturbed, 'p99 beside 500 a second of 500 devices, ms': busy },
      'p99 beside 500 a second of one, and one that hangs, ms': troubled,
      [besideAsMuch]: troubled / busy,
    };
  } finally {
    await arena.stop();
  }
}

const besideAsMuch = 'p99, beside a flood of one / of 500 devices, ×';

export const isolation = alone({
  name: 'isolation',
  about: `${others} devices send 100 updates a second, while one device hangs and one floods`,
  most: 5,
  goals: { [besideAsMuch]: { atMost: 1.2 } },
  parts: (context) => ({ '': anew((build) => measure(build, context)) }),
});
