import { absoluteOf, type Contestant, compare, cpuRatio, inArena } from '../compare.ts';
import { figure, row } from '../figures.ts';
import { startChild } from '../processes/child.ts';
import type { CollectorDescription } from '../processes/collector.ts';
import type { Context, Opener, Workload } from './workload.ts';

const devices = 1_000;

/** Shares of the messages whose spans are recorded, by the name of the program. */
const shares = { 'all traced': 1, 'a tenth traced': 0.1 } as const;

const pathOf = (share: number) => `/${share}/v1/traces`;

/** Faster than at this rate, spans would be dropped that are not paid for. */
const rateOf = (quick: boolean) => (quick ? 250 : 1_000);
const messagesOf = (quick: boolean) => (quick ? 500 : 5_000);

const untraced = ({ quick }: Context): Contestant => ({
  options: { program: 'service', devices },
  load: () => ({ kind: 'update', messages: messagesOf(quick), devices, rate: rateOf(quick), burst: 10 }),
});

/** With spans of a share of the messages, sent to the collector at a port. */
function traced(share: number, port: number, context: Context): Contestant {
  const { options, load } = untraced(context);
  const environment = {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}${pathOf(share)}`,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(share),
  };
  return { options: { ...options, environment }, load };
}

const startCollector = () => startChild<CollectorDescription>('./collector.ts', []);

const ofTraced =
  (context: Context): Opener =>
  async (build) => {
    const collector = await startCollector();
    const { close, ...subject } = await inArena(traced(1, collector.described.port, context))(build);
    return {
      ...subject,
      async close() {
        await close();
        await collector.stop();
      },
    };
  };

export const tracing: Workload = {
  name: 'tracing',
  about: 'update at 1,000 a second with spans sent to a collector, beside a service without; three spans each',
  async run(context) {
    const collector = await startCollector();
    const contestant = (share: number) => traced(share, collector.described.port, context);
    const messages = messagesOf(context.quick);
    try {
      const costs = await compare(
        {
          untraced: untraced(context),
          'all traced': contestant(shares['all traced']),
          'a tenth traced': contestant(shares['a tenth traced']),
        },
        context,
      );
      const names = Object.keys(shares) as (keyof typeof shares)[];
      const spansOf = async (name: keyof typeof shares) =>
        (await collector.call<number>('spans', pathOf(shares[name]))) / (messages * (context.rounds + 1));
      const spans = new Map<string, number>(
        await Promise.all(names.map(async (name) => [name, await spansOf(name)] as const)),
      );
      return {
        rows: names.map((name) => row(`CPU, ${name} / untraced`, cpuRatio(costs, name, 'untraced'), '×')),
        absolute: absoluteOf(costs).map(({ figures, ...program }) => ({
          ...program,
          figures: [...figures, { what: 'spans', figure: figure([spans.get(program.program) ?? 0]), unit: '' }],
        })),
      };
    } finally {
      await collector.stop();
    }
  },
  versus: (context) => ({ 'all traced': ofTraced(context) }),
};
