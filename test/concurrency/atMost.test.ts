import { expect, it } from 'vitest';
import { atMost } from '../../src/concurrency/atMost.ts';

it('tasks run up to the limit at once, in the order of arrival, even if some fail', async () => {
  const limited = atMost(3);
  const begun: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  let [running, most] = [0, 0];
  const arrive = (index: number) =>
    limited(async () => {
      begun.push(index);
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve, reject) => {
        ends[index] = (error) => {
          running -= 1;
          return error ? reject(error) : resolve();
        };
      });
      return index;
    }).catch(({ message }: Error) => message);
  async function end(...indices: readonly number[]) {
    for (const index of indices) {
      ends[index]?.(index % 3 === 0 ? new Error(`${index} failed`) : undefined);
      await new Promise(setImmediate);
    }
  }
  const early = [0, 1, 2, 3, 4, 5].map(arrive);
  await end(1, 0, 2);
  const late = [6, 7, 8].map(arrive);
  await end(4, 3, 5, 6, 7, 8);
  expect(await Promise.all([...early, ...late])).toEqual(['0 failed', 1, 2, '3 failed', 4, 5, '6 failed', 7, 8]);
  expect([begun, most]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8], 3]);
});
