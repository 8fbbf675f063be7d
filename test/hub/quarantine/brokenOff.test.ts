import { expect, it, vi } from 'vitest';
import { createPartition } from '../../../src/hub/partition/partition.ts';
import { createLog } from '../../../src/log/log.ts';
import { hubEvent } from '../../support/events.ts';
import { withFakeTimers } from '../../support/fakeTimers.ts';
import { budgetOf, limits, usual } from '../support/partitions.ts';
import { memorySpool } from '../support/spools.ts';

withFakeTimers();

it('a suspect that was broken off is handled again as a possible repeat, though nobody before had begun it', async () => {
  const begun: [sequenceNumber: number, redelivered: boolean][] = [];
  const partition = createPartition({
    ...usual,
    budget: budgetOf(10),
    spool: memorySpool(0),
    progress: { sequenceNumber: -1, offset: '-1', completed: '', note: '1 2 0 - -' },
    arrivalOf: (event, redelivered) => ({ event, deviceId: 'd1', redelivered }),
    async dispatch({ event, redelivered }, { ended }) {
      begun.push([event.sequenceNumber, redelivered]);
      if (begun.length === 1) await new Promise((resolve) => ended.addEventListener('abort', resolve));
      return !ended.aborted;
    },
    limits: { ...limits, everyMessages: 1, everyMs: 1_000 },
    quarantine: { mostSuspects: 10, longestMs: 900_000, log: createLog('silent') },
  });
  await partition.admit([hubEvent({ sequenceNumber: 0 }), hubEvent({ sequenceNumber: 1 })]);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(begun).toEqual([
    [0, false],
    [0, true],
    [1, false],
  ]);
  expect(await partition.drain(1_000)).toBe(0);
});
