import { expect, it, vi } from 'vitest';
import type { Checkpoint } from '../../src/engine/progressTracker.ts';
import { createTurnstile } from '../../src/engine/quarantine.ts';
import { createLog } from '../../src/observing/log.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { budgetOf, events, partitionByHand } from './support/partitions.ts';

withFakeTimers();

/** The progress of a partition of which nothing is done, with this crash record. */
const noted = (note: string) => ({ sequenceNumber: -1, offset: '-1', completed: '', note });
const quarantine = { mostSuspects: 10, turnstile: createTurnstile(), log: createLog('silent') };

it.each([
  ['without a checkpoint', undefined],
  ['after one unclean shutdown', noted('2 1 5 - -')],
])('%s no message is a suspect', async (_, progress) => {
  const { partition, started } = partitionByHand({ progress, quarantine });
  await partition.admit(events('a0 b1'));
  expect([started, partition.contents().suspects]).toEqual([[0, 1], 0]);
});

it('a suspect is followed by the next message of its device', async () => {
  const { partition, started, end } = partitionByHand({ progress: noted('2 2 0 - -'), quarantine });
  await partition.admit(events('a0 a1'));
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toEqual([0]);
  await end(0);
  expect(started).toEqual([0, 1]);
  await end(1);
  expect(partition.devices(undefined)).toEqual([]);
  expect(await partition.drain(0)).toBe(0);
});

it('a suspect of which only replies to other devices are left is not followed before it has ended (A12)', async () => {
  const { partition, started, stays, end } = partitionByHand({ progress: noted('2 2 0 - -'), quarantine });
  await partition.admit(events('a0 a1 b2'));
  await vi.advanceTimersByTimeAsync(0);
  stays.at(-1)?.nextMayBegin();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(started.toSorted()).toEqual([0, 2]);
  await end(0);
  expect(started.toSorted()).toEqual([0, 1, 2]);
  partition.revoke();
});

it('a suspect that ends while the store fails is in the last checkpoint of the drain', async () => {
  let isOut = false;
  const written: Checkpoint[] = [];
  const { partition, started, end } = partitionByHand({
    progress: noted('2 2 5 - -'),
    quarantine,
    async checkpoint(progress) {
      if (isOut) throw new Error('disk full');
      written.push(progress);
      return true;
    },
  });
  await partition.admit(events('a0'));
  await vi.advanceTimersByTimeAsync(0);
  expect([started, written.map(({ note }) => note)]).toEqual([[0], ['2 2 5 0 0+']]);
  isOut = true;
  await end(0);
  isOut = false;
  const drained = partition.drain(25_000).then((left) => [left, written.length]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await drained).toEqual([0, written.length]);
  expect(written.at(-1)).toEqual({ sequenceNumber: 0, offset: '0', completed: '', note: '2 2 5 - -' });
});

it('a skipped message releases its room, whether it waited or not, and its device continues', async () => {
  const budget = budgetOf(10);
  const { partition, started, backlog } = partitionByHand({
    progress: noted('2 6 1 - 0:4,1:4'),
    budget,
    quarantine,
  });
  for (const some of ['a0', 'a1 a2']) {
    await partition.admit(events(some));
    await vi.advanceTimersByTimeAsync(0);
  }
  expect([started, backlog.taken(), budget.inFlight().messages]).toEqual([[2], { messages: 0, bytes: 0 }, 1]);
  expect(partition.pending()).toBe(1);
});

it('a message that was alone at three shutdowns is parked unexecuted, and the next one of its device is executed', async () => {
  const { partition, started, stays, end } = partitionByHand({ progress: noted('2 5 0 - 0:3'), quarantine });
  await partition.admit(events('a0 a1'));
  await vi.advanceTimersByTimeAsync(0);
  await end(0);
  expect([started, stays.map(({ parkUnexecuted }) => parkUnexecuted)]).toEqual([
    [0, 1],
    [true, false],
  ]);
});
