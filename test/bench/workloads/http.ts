import { startChild } from '../processes/child.ts';
import { ratios } from '../statistics.ts';
import type { Workload } from './workload.ts';

const inFlight = 16;

export const http: Workload = {
  name: 'http',
  about: `POST 1 KiB, ${inFlight} in flight, our headers and deadline, beside undici’s Pool.request`,
  async run({ quick, rounds, progress }) {
    // The faster one makes more calls, so that both are measured for seconds.
    const callsOf = { ours: quick ? 5_000 : 10_000, undici: quick ? 5_000 : 30_000 };
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
        for (const name of round % 2 === 0 ? names : names.reverse()) {
          const calls = callsOf[name];
          const spent = await clients[name].call<number>('post', { port: backends.described.port, calls, inFlight });
          if (round > 0) cpu[name].push(spent / calls);
        }
      }
    } finally {
      await Promise.all([backends, clients.ours, clients.undici].map((child) => child.stop()));
    }
    const spent = (name: keyof typeof clients) =>
      `${name}: ${cpu[name].map((µs) => µs.toFixed(0)).join(', ')} µs a call`;
    return {
      rows: [{ measure: 'CPU, our client / undici', figure: ratios(cpu.ours, cpu.undici), unit: '×' }],
      notes: [spent('ours'), spent('undici')],
    };
  },
};
