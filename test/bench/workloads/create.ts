import { absoluteOf, type Contestant, compare, cpuRatio, inArena } from '../compare.ts';
import { type Context, measurements, type Workload } from './workload.ts';

const messagesOf = ({ quick }: Context) => (quick ? 600 : 1_000);

/** Each message comes from a device of its own, so that no identity is known from before. */
const contestant = (program: 'service' | 'floor' | 'usual', messages: number, rounds: number): Contestant => ({
  options: { program, devices: messages * (rounds + 1) },
  load: (round) => ({ kind: 'create', messages, devices: messages, firstDevice: round * messages, atOnce: true }),
});

export const create: Workload = {
  name: 'create',
  about:
    'model.create of new devices’ svc.device objects, ack=all: five calls each (owner, type, look-up, creation, ' +
    'configuration), an acknowledgement and a notification',
  async run(context) {
    const messages = messagesOf(context);
    // Short rounds, and more of them: the machine's speed changes within seconds.
    const rounds = context.quick ? context.rounds : 2 * context.rounds;
    const costs = await compare(
      {
        service: contestant('service', messages, rounds),
        floor: contestant('floor', context.quick ? messages : 2 * messages, rounds),
        usual: contestant('usual', messages / 2, rounds),
      },
      { ...context, rounds },
    );
    return {
      rows: [
        {
          measure: 'CPU, service / floor',
          figure: cpuRatio(costs, 'service', 'floor'),
          unit: '×',
          goal: { atMost: 2.3 },
        },
        { measure: 'CPU, usual / service', figure: cpuRatio(costs, 'usual', 'service'), unit: '×' },
      ],
      absolute: absoluteOf(costs),
      notes: [],
    };
  },
  versus: (context) => ({ '': inArena(contestant('service', messagesOf(context), measurements)) }),
};
