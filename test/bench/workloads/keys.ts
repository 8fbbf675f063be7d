import { startChild } from '../processes/child.ts';
import type { Absolute, Row } from '../row.ts';
import { figure, ratios } from '../statistics.ts';
import type { Context, Opener, Workload } from './workload.ts';

/** How long the engine takes, and a bare promise pool that keeps the order of each key; in ms. */
interface Walls {
  readonly engine: number;
  readonly pool: number;
}

const inFlights = [16, 100];
const work = ({ quick }: Pick<Context, 'quick'>) => ({ messages: quick ? 3_000 : 10_000, devices: 1_000 });

/** The engine of a build. */
const opener =
  (inFlight: number, context: Context): Opener =>
  async (build) => {
    const program = await startChild('../programs/engine.ts', [], build);
    return {
      async measure() {
        const { engine } = await program.call<Walls>('run', { ...work(context), inFlight, engineFirst: true });
        return { 'wall, ms': engine };
      },
      close: () => program.stop(),
    };
  };

export const keys: Workload = {
  name: 'keys',
  about: '10,000 messages, one partition, 1,000 devices, the engine alone, handlers of 0–5 ms (fixed seed)',
  async run({ quick, rounds, progress }) {
    const program = await startChild('../programs/engine.ts', []);
    const rows: Row[] = [];
    const absolute: Absolute[] = [];
    try {
      for (const inFlight of inFlights) {
        const walls: Walls[] = [];
        for (let round = 0; round <= Math.min(rounds, 5); round += 1) {
          progress(`${inFlight} in flight: ${round === 0 ? 'warm-up' : `round ${round}`}`);
          const measured = await program.call<Walls>('run', {
            ...work({ quick }),
            inFlight,
            engineFirst: round % 2 === 0,
          });
          if (round > 0) walls.push(measured);
        }
        const [engine, pool] = [walls.map(({ engine }) => engine), walls.map(({ pool }) => pool)];
        rows.push({
          measure: `wall, engine / promise pool, ${inFlight} in flight`,
          figure: ratios(engine, pool),
          unit: '×',
          goal: { atMost: 1.1 },
        });
        absolute.push({
          program: `${inFlight} in flight`,
          figures: [
            { what: 'engine', figure: figure(engine), unit: 'ms' },
            { what: 'pool', figure: figure(pool), unit: 'ms' },
          ],
        });
      }
    } finally {
      await program.stop();
    }
    return { rows, absolute, notes: [] };
  },
  versus: (context) =>
    Object.fromEntries(inFlights.map((inFlight) => [`${inFlight} in flight`, opener(inFlight, context)])),
};
