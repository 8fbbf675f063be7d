import { expect, it, vi } from 'vitest';
import { createBudget } from '../../src/engine/budget.ts';
import type { Dependencies } from '../../src/engine/lanes.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { events, fullBacklog, partitionByHand, partitionWith } from './support/partitions.ts';

// A message whose backend is out waits in the hub when there is no room for it elsewhere (D27).

withFakeTimers();

function setUp() {
  let isUp = false;
  const watchers: (() => void)[] = [];
  let watched = 0;
  const outage: Dependencies = {
    areAvailable: () => isUp,
    met() {
      watched += 1;
      return new Promise((resolve) => watchers.push(() => resolve(true)));
    },
  };
  const none: Dependencies = { areAvailable: () => true, met: async () => true };
  const { partition, started, end } = partitionByHand({
    backlog: fullBacklog(),
    dependenciesOf: ({ deviceId }) => (deviceId === 'a' ? outage : none),
  });
  return {
    partition,
    started,
    end,
    watched: () => watched,
    /** Says that the backend is back. @param stays it is not out again by the time that somebody looks */
    async back(stays: boolean) {
      isUp = stays;
      for (const tell of watchers.splice(0)) tell();
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

it('a message that waits in the hub begins when its backend is back, even if it was back briefly before', async () => {
  const { partition, started, back } = setUp();
  void partition.admit(events('a1'));
  await vi.advanceTimersByTimeAsync(0);
  await back(false);
  expect(started).toEqual([]);
  await back(true);
  expect(started).toEqual([1]);
});

it('a message that waits in the hub asks once for its backend, even if other messages end meanwhile', async () => {
  const { partition, started, end, watched } = setUp();
  void partition.admit(events('b1 c2 d3 a4'));
  await vi.advanceTimersByTimeAsync(0);
  for (const ended of [1, 2, 3]) await end(ended);
  expect([started, watched()]).toEqual([[1, 2, 3], 1]);
});

it('a large message that finds no room to wait takes its place in the budget, and begins as soon as others have ended', async () => {
  const large = 20_000;
  const overall = createBudget({ maxMessages: 10, maxBytes: 2 * large });
  const busy = await partitionWith('a1', {
    budget: createBudget({ maxMessages: 10, maxBytes: 1e6 }, overall),
    costOf: () => large,
  });
  const { partition, started } = partitionByHand({
    backlog: fullBacklog(),
    budget: createBudget({ maxMessages: 10, maxBytes: 1e6 }, overall),
    costOf: () => large,
  });
  void partition.admit(events('b1'));
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toEqual([]);
  await busy.end(1);
  expect(started).toEqual([1]);
});
