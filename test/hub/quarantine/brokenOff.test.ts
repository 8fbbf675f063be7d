import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createBudget } from '../../../src/hub/partition/budget.ts';
import { knownHorizon } from '../../../src/hub/partition/horizon.ts';
import { createPartition } from '../../../src/hub/partition/partition.ts';
import type { Spool } from '../../../src/hub/partition/spool.ts';
import { createLog } from '../../../src/log.ts';
import { bodyBytes, hubEvent } from '../../support/events.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const noSpool: Spool = {
  put: () => undefined,
  take: () => Promise.reject(new Error('nothing waits here')),
  close() {},
};

it('a suspect that was broken off is handled again as a possible repeat, though nobody before had begun it', async () => {
  const begun: [sequenceNumber: number, mayBeRepeat: boolean][] = [];
  const partition = createPartition({
    budget: createBudget({ maxMessages: 10, maxBytes: 1e6 }),
    spool: noSpool,
    progress: { sequenceNumber: -1, offset: '-1', completed: '', note: '1 2 0 - -' },
    horizon: knownHorizon(-1),
    costOf: bodyBytes,
    arrivalOf: (event, mayBeRepeat) => ({ event, deviceId: 'd1', mayBeRepeat }),
    async dispatch({ event, mayBeRepeat }, { gone }) {
      begun.push([event.sequenceNumber, mayBeRepeat]);
      if (begun.length === 1) await new Promise((resolve) => gone.addEventListener('abort', resolve));
      return !gone.aborted;
    },
    checkpoint: async () => true,
    limits: { everyMessages: 1, everyMs: 1_000, deviceMessages: 4, maxMapBytes: 1_000 },
    quarantine: { mostSuspects: 10, longestMs: 900_000, log: createLog('silent') },
    onTrouble() {},
    onGivenUp() {},
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
