import { absoluteOf, type Contestant, compare, cpuRatio, inArena } from '../compare.ts';
import { row, used } from '../figures.ts';
import { startChild } from '../processes/child.ts';
import type { CollectorDescription } from '../processes/collector.ts';
import type { Context, Opener, Workload } from './workload.ts';

const devices = 1_000;

const messagesOf = (quick: boolean) => (quick ? 500 : 5_000);

/** Faster than at this rate, spans would be dropped that are not paid for. */
const untraced = ({ quick }: Context): Contestant => ({
  options: { program: 'service', devices },
  load: () => ({ kind: 'update', messages: messagesOf(quick), devices, rate: quick ? 250 : 1_000, burst: 10 }),
});

/** With the spans of all messages, sent to the collector at a port. */
function traced(port: number, context: Context): Contestant {
  const { options, load } = untraced(context);
  const environment = {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/v1/traces`,
  };
  return { options: { ...options, environment }, load };
}

const startCollector = () => startChild<CollectorDescription>('./collector.ts', []);

const ofTraced =
  (context: Context): Opener =>
  async (build) => {
    const collector = await startCollector();
    const { close, ...subject } = await inArena(traced(collector.described.port, context))(build);
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
    try {
      const contestants = { untraced: untraced(context), traced: traced(collector.described.port, context) };
      const costs = await compare(contestants, context);
      const spans = (await collector.call<number>('spans')) / (messagesOf(context.quick) * (context.rounds + 1));
      return {
        rows: [row('CPU, traced / untraced', cpuRatio(costs, 'traced', 'untraced'), '×')],
        absolute: [...absoluteOf(costs), used('collector', { 'spans of a message': [[spans], ''] })],
      };
    } finally {
      await collector.stop();
    }
  },
  versus: (context) => ({ traced: ofTraced(context) }),
};
