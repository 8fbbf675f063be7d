import { absoluteOf, checkEffects, requireRight } from '../compare.ts';
import { type Cost, openArena } from '../processes/arena.ts';
import { ratios } from '../statistics.ts';
import type { Workload } from './workload.ts';

const devices = 1_000;

/** Of each round: what becomes faster or slower within it concerns both alike. */
const turns = ['with', 'without', 'without', 'with'] as const;

export const metrics: Workload = {
  name: 'metrics',
  about: 'update, one service that records metrics and does not, by turns',
  async run({ quick, rounds: asked, progress }) {
    const rounds = quick ? asked : 2 * asked; // they are short
    const messages = quick ? 1_250 : 2_500;
    const warmUp = 12 * messages;
    const update = (count: number) => ({ kind: 'update', messages: count, devices }) as const;
    const costs: Record<(typeof turns)[number], Cost[]> = { with: [], without: [] };
    const arena = await openArena({ program: 'switchedMetrics', devices });
    try {
      progress('warm-up');
      requireRight('service', await arena.run(update(warmUp)));
      for (let round = 1; round <= rounds; round += 1) {
        for (const turn of round % 2 === 0 ? turns : [...turns].map(opposite)) {
          progress(`round ${round} of ${rounds}: ${turn} metrics`);
          await arena.program.recordMetrics(turn === 'with');
          const cost = await arena.run(update(messages));
          requireRight('service', cost);
          costs[turn].push(cost);
        }
      }
      const load = (round: number) => update(round === 0 ? warmUp : turns.length * messages);
      await checkEffects('service', arena, { load }, rounds);
    } finally {
      await arena.stop();
    }
    const figure = ratios(byRound(costs.with), byRound(costs.without));
    return {
      rows: [{ measure: 'CPU, with / without metrics', figure, unit: '×', goal: { atMost: 1.03 } }],
      absolute: absoluteOf({ 'with metrics': costs.with, 'without metrics': costs.without }),
      notes: [],
    };
  },
};

const opposite = (turn: (typeof turns)[number]) => (turn === 'with' ? 'without' : 'with');

/** The CPU of the two turns of each round together. */
const byRound = (costs: readonly Cost[]): number[] =>
  costs.flatMap(({ cpu }, index) => (index % 2 === 0 ? [cpu + (costs[index + 1]?.cpu ?? Number.NaN)] : []));
