import { absoluteOf, compare, cpuRatio } from '../compare.ts';
import { startChild } from '../processes/child.ts';
import type { CollectorDescription } from '../processes/collector.ts';
import { figure } from '../statistics.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;

/** Shares of the messages whose spans are recorded, by the name of the program. */
const shares = { 'all traced': 1, 'a tenth traced': 0.1, 'a hundredth traced': 0.01 } as const;

export const tracing: Workload = {
  name: 'tracing',
  about: 'update at 1,000 a second with spans sent to a collector, beside a service without; three spans each',
  async run(context) {
    // Faster, spans would be dropped that are not paid for.
    const rate = context.quick ? 250 : 1_000;
    const messages = context.quick ? 500 : 5_000;
    const load = () => ({ kind: 'update', messages, devices, rate, burst: 10 }) as const;
    const collector = await startChild<CollectorDescription>('./collector.ts', []);
    const pathOf = (share: number) => `/${share}/v1/traces`;
    const traced = (share: number) => ({
      options: {
        program: 'service' as const,
        devices,
        environment: {
          OTEL_TRACES_EXPORTER: 'otlp',
          OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${collector.described.port}${pathOf(share)}`,
          OTEL_TRACES_SAMPLER: 'traceidratio',
          OTEL_TRACES_SAMPLER_ARG: String(share),
        },
      },
      load,
    });
    try {
      const costs = await compare(
        {
          untraced: { options: { program: 'service', devices }, load },
          'all traced': traced(shares['all traced']),
          'a tenth traced': traced(shares['a tenth traced']),
          'a hundredth traced': traced(shares['a hundredth traced']),
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
        rows: names.map((name) => ({
          measure: `CPU, ${name} / untraced`,
          figure: cpuRatio(costs, name, 'untraced'),
          unit: '×',
        })),
        absolute: absoluteOf(costs).map(({ figures, ...program }) => ({
          ...program,
          figures: [...figures, { what: 'spans', figure: figure([spans.get(program.program) ?? 0]), unit: '' }],
        })),
        notes: [],
      };
    } finally {
      await collector.stop();
    }
  },
};
