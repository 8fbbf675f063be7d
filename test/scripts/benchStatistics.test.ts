import { describe, expect, it } from 'vitest';
import { pairedRatio } from '../bench/figures.ts';
import { versus, versusTable } from '../bench/versus.ts';
import { createRandom } from '../chaos/random.ts';

describe('the interval of a ratio', () => {
  it('is Student’s, of the logarithms', () => {
    const above = [-2, -1, 0, 1, 2].map((tenths) => 2 * Math.exp(tenths / 10));
    const { ratio, low, high } = pairedRatio(above, [1, 1, 1, 1, 1]);
    const half = (2.7764 * Math.sqrt(0.025)) / Math.sqrt(5); // 2.7764: tables, 4 degrees of freedom
    expect([ratio, low, high]).toEqual(
      [2, 2 * Math.exp(-half), 2 * Math.exp(half)].map((one) => expect.closeTo(one, 3)),
    );
  });
  it.each([5, 10, 20])('of %i rounds has the true ratio in 95 of 100 runs', (rounds) => {
    const { next } = createRandom(1);
    const noise = () => Math.exp(0.2 * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()));
    const values = (factor: number) => Array.from({ length: rounds }, () => factor * noise());
    const runs = Array.from({ length: 1_000 }, () => pairedRatio(values(1.1), values(1)));
    const right = runs.filter(({ low, high }) => low <= 1.1 && 1.1 <= high).length;
    expect(Math.abs(right / runs.length - 0.95)).toBeLessThan(0.02);
  });
  it.each([
    ['too few rounds', [1, 2, 3, 4], [1, 2, 3, 4]],
    ['nothing in a round', [1, 1, 0, 1, 1], [1, 1, 1, 1, 1]],
  ])('is none: %s', (_, above, below) => expect(pairedRatio(above, below).low).toBeNaN());
});

describe('two builds', () => {
  const context = { quick: false, rounds: 6, progress() {} };
  const opening = (events: string[]) => async (build: string) => ({
    async measure(nth: number) {
      events.push(`${build} ${nth}`);
      return { 'CPU, µs': (build === 'mine' ? 100 : 200) + nth, 'memory, MB': 50, unused: 0 };
    },
    close: async () => void events.push(`${build} closed`),
  });
  it('are started anew in each round and measured in turn, each first in every other one', async () => {
    const events: string[] = [];
    const workload = { name: 'update', versus: () => ({ '': opening(events) }) };
    const compared = await versus(workload, { here: 'mine', there: 'other' }, context);
    const [first, second] = [
      ['mine 0', 'other 0', 'mine 1', 'other 1', 'other 2', 'mine 2', 'mine closed', 'other closed'],
      ['other 0', 'mine 0', 'other 1', 'mine 1', 'mine 2', 'other 2', 'other closed', 'mine closed'],
    ];
    expect(events).toEqual([first, second, first, second, first, second].flat());
    expect(versusTable(compared).split('\n')).toEqual([
      '| workload | measure    | here  | there | here / there | 95 %        |      |',
      '|----------|------------|-------|-------|--------------|-------------|------|',
      '| update   | CPU, µs    | 102   | 202   | 0.504        | 0.504–0.504 | less |',
      '| update   | memory, MB | 50.00 | 50.00 | 1.000        | 1.000–1.000 |      |',
      '| update   | unused     | 0.00  | 0.00  |              |             |      |',
    ]);
  });
  it('are measured once in a round when each measurement starts them', async () => {
    const events: string[] = [];
    const open = async (build: string) => ({ ...(await opening(events)(build)), isNewEachTime: true as const });
    await versus({ name: 'start', versus: () => ({ '': open }) }, { here: 'mine', there: 'other' }, context);
    expect(events.slice(0, 6)).toEqual(['mine 1', 'other 1', 'mine closed', 'other closed', 'other 1', 'mine 1']);
  });
  it('end when one of them does its work wrong', async () => {
    const events: string[] = [];
    const open = async (build: string) => ({
      ...(await opening(events)(build)),
      check: async () => {
        if (build === 'other') throw new Error('an update is missing');
      },
    });
    const workload = { name: 'update', versus: () => ({ '': open }) };
    await expect(versus(workload, { here: 'mine', there: 'other' }, context)).rejects.toThrow('an update is missing');
    expect(events.slice(-2)).toEqual(['mine closed', 'other closed']);
  });
});
