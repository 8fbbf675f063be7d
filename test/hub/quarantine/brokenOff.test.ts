import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPartition } from '../../../src/hub/partition/partition.ts';
import { createLog } from '../../../src/log.ts';
import { hubEvent } from '../../support/events.ts';
import { budgetOf, limits, usual } from '../support/partitions.ts';
import { memorySpool } from '../support/spools.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a suspect that was broken off is handled again as a possible repeat, though nobody before had begun it', async () => {
  const begun: [sequenceNumber: number, mayBeRepeat: boolean][] = [];
  const partition = createPartition({
    ...usual,
    budget: budgetOf(10),
    spool: memorySpool(0),
    progress: { sequenceNumber: -1, offset: '-1', completed: '', note: '1 2 0 - -' },
    arrivalOf: (event, mayBeRepeat) => ({ event, deviceId: 'd1', mayBeRepeat }),
    async dispatch({ event, mayBeRepeat }, { gone }) {
      begun.push([event.sequenceNumber, mayBeRepeat]);
      if (begun.length === 1) await new Promise((resolve) => gone.addEventListener('abort', resolve));
      return !gone.aborted;
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
