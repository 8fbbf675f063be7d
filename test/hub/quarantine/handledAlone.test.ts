import { expect, it, vi } from 'vitest';
import { createLog } from '../../../src/log/log.ts';
import { withFakeTimers } from '../../support/fakeTimers.ts';
import { events, limits, partitionByHand } from '../support/partitions.ts';
import { memorySpool } from '../support/spools.ts';

withFakeTimers();

const quarantine = { mostSuspects: 10, longestMs: 900_000, log: createLog('silent') };

it('without a checkpoint nothing is a suspect', async () => {
  const { partition, started } = partitionByHand({ quarantine });
  await partition.admit(events('a0 b1'));
  expect([started, partition.contents().suspects]).toEqual([[0, 1], 0]);
});

it('a suspect that was handled alone is followed by the next message of its device', async () => {
  const { partition, started, end } = partitionByHand({
    progress: { sequenceNumber: -1, offset: '-1', completed: '', note: '1 2 0 - -' },
    quarantine,
  });
  await partition.admit(events('a0 a1'));
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toEqual([0]);
  await end(0);
  expect(started).toEqual([0, 1]);
  await end(1);
  expect(partition.devices(undefined)).toEqual([]);
  expect(await partition.drain(0)).toBe(0);
});

it('a suspect that comes from the spool when the partition drains is left to the next reader', async () => {
  const spool = memorySpool();
  let read = () => {};
  const { partition, started, end } = partitionByHand({
    progress: { sequenceNumber: -1, offset: '-1', completed: '', note: '1 2 0 - -' },
    quarantine,
    limits: { ...limits, deviceMessages: 0 },
    spool: {
      ...spool,
      async take(ticket) {
        await new Promise<void>((resolve) => {
          read = resolve;
        });
        return spool.take(ticket);
      },
    },
  });
  await partition.admit(events('a0'));
  await vi.advanceTimersByTimeAsync(0);
  const draining = partition.drain(25_000);
  read();
  await end(0);
  expect([await draining, started]).toEqual([1, []]);
});
