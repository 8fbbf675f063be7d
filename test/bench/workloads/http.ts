import { startChild } from '../processes/child.ts';
import { figure, ratios } from '../statistics.ts';
import type { Context, Opener, Workload } from './workload.ts';

const inFlight = 16;

/** In each round the clients take turns so often: the machine's speed changes within a round, too. */
const turns = 10;

/** The faster one makes more calls, so that both are measured for seconds. */
const callsOf = (client: 'ours' | 'undici', { quick }: Pick<Context, 'quick'>) =>
  quick ? 500 : { ours: 1_000, undici: 3_000 }[client];

/** Our client of a build. */
const opener =
  (context: Context): Opener =>
  async (build) => {
    const backends = await startChild<{ port: number }>('./backends.ts', []);
    const client = await startChild('../programs/calls.ts', ['ours'], build);
    const calls = turns * callsOf('ours', context);
    return {
      async measure() {
        const cpu = await client.call<number>('post', { port: backends.described.port, calls, inFlight });
        return { 'CPU of a call, µs': cpu / calls };
      },
      close: async () => void (await Promise.all([backends.stop(), client.stop()])),
    };
  };

export const http: Workload = {
  name: 'http',
  about: `POST 1 KiB, ${inFlight} in flight, our headers and deadline, beside undici’s Pool.request`,
  async run({ quick, rounds, progress }) {
    const backends = await startChild<{ port: number }>('./backends.ts', []);
    const clients = {
      ours: await startChild('../programs/calls.ts', ['ours']),
      undici: await startChild('../programs/calls.ts', ['undici']),
    };
    const cpu: Record<keyof typeof clients, number[]> = { ours: [], undici: [] };
    try {
      for (let round = 0; round <= rounds; round += 1) {
        progress(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
        const names = Object.keys(clients) as (keyof typeof clients)[];
        const spent = { ours: 0, undici: 0 };
        for (let turn = 0; turn < turns; turn += 1) {
          for (const name of names.reverse()) {
            const load = { port: backends.described.port, calls: callsOf(name, { quick }), inFlight };
            spent[name] += await clients[name].call<number>('post', load);
          }
        }
        if (round > 0) for (const name of names) cpu[name].push(spent[name] / (turns * callsOf(name, { quick })));
      }
    } finally {
      await Promise.all([backends, clients.ours, clients.undici].map((child) => child.stop()));
    }
    return {
      rows: [
        { measure: 'CPU, our client / undici', figure: ratios(cpu.ours, cpu.undici), unit: '×', goal: { atMost: 1.6 } },
      ],
      absolute: (['ours', 'undici'] as const).map((program) => ({
        program,
        figures: [{ what: 'CPU of a call', figure: figure(cpu[program]), unit: 'µs' }],
      })),
      notes: [],
    };
  },
  versus: (context) => ({ '': opener(context) }),
};
