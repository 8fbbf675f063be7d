import { absoluteOf, type Contestant, compare, cpuRatio, inArena, throughputOf } from '../compare.ts';
import { serviceV8 } from '../processes/serviceV8.ts';
import { ratios } from '../statistics.ts';
import type { Context, Workload } from './workload.ts';

const devices = 1_000;

const messagesOf = ({ quick }: Context) => (quick ? 1_500 : 5_000);

const load = (messages: number, context: Context) => (round: number) =>
  ({ kind: 'update', messages: round === 0 ? 2 * messagesOf(context) : messages, devices, atOnce: true }) as const;

const service = (context: Context): Contestant => ({
  options: { program: 'service', devices },
  load: load(messagesOf(context), context),
});

export const update: Workload = {
  name: 'update',
  about: 'model.update, ack=all, 1 KiB body of 30 members, 1,000 devices, backends answer at once',
  async run(context) {
    const messages = messagesOf(context);
    // A program that is fast does more of it, so that each is measured for seconds; the usual one takes its time.
    const floor = { program: 'floor', load: load(context.quick ? messages : 4 * messages, context) } as const;
    const usual = { program: 'usual', load: load(messages / 5, context) } as const;
    const contestant = ({ program, load }: typeof floor | typeof usual, nodeOptions: readonly string[] = []) => ({
      options: { program, devices, nodeOptions },
      load,
    });
    const costs = await compare(
      {
        service: service(context),
        floor: contestant(floor),
        'floor with our V8': contestant(floor, serviceV8),
        usual: contestant(usual),
        'usual with our V8': contestant(usual, serviceV8),
      },
      context,
    );
    const speed = ratios(throughputOf(costs.service), throughputOf(costs.usual));
    const ratio = (above: keyof typeof costs, below: keyof typeof costs) => ({
      measure: `CPU, ${above} / ${below}`,
      figure: cpuRatio(costs, above, below),
      unit: '×' as const,
    });
    return {
      rows: [
        { ...ratio('service', 'floor'), goal: { atMost: 2 } },
        ratio('service', 'floor with our V8'),
        { ...ratio('usual', 'service'), goal: { atLeast: 2.5 } },
        ratio('usual with our V8', 'service'),
        { measure: 'throughput, service / usual', figure: speed, unit: '×', goal: { atLeast: 2.5 } },
      ],
      absolute: absoluteOf(costs),
      notes: [`our V8: ${serviceV8.join(' ')}`],
    };
  },
  versus: (context) => ({ '': inArena(service(context)) }),
};
