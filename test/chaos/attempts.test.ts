import { expect, it } from 'vitest';
import { attemptsAt } from './attempts.ts';

it('tries the seeds known to show a sabotage first, and then every seed in order', () => {
  const [first, second, ...rest] = attemptsAt({ showsIn: ['kill'] }, [7, 8, 9]);
  expect([first, second]).toEqual([7, 8].map((seed) => ({ seed, only: ['kill'] })));
  expect(rest).toEqual([{ seed: 7 }, { seed: 8 }, { seed: 9 }]);
});
