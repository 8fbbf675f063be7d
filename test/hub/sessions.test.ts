import { expect, it, vi } from 'vitest';
import { createReadingTroubles } from '../../src/hub/reading/readingTroubles.ts';
import { createPartitionSessions } from '../../src/hub/reading/sessions.ts';
import type { Ownership } from '../../src/hub/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/hub/stores/memoryStore.ts';
import { memorySpool } from '../engine/support/memorySpool.ts';
import { arrivalOf, budgetOf, limits, usual } from '../engine/support/partitions.ts';
import { hubEvent } from '../support/events.ts';
import { withFakeTimers } from '../support/fakeTimers.ts';
import { neverCrashing } from '../support/processLife.ts';
import { createFakeHub } from './support/fakeHub.ts';
import { silence, untold } from './support/replying.ts';

withFakeTimers();

/** The sessions of an instance that owns partition 0, whose session reads. `course` tells what comes first, log or store. */
async function setUp() {
  const hub = createFakeHub(['0']);
  const client = hub.client(neverCrashing());
  const course: string[] = [];
  const memory = createMemoryStore();
  const store: typeof memory = {
    ...memory,
    writeProgress(reader, progress) {
      course.push('checkpoint');
      return memory.writeProgress(reader, progress);
    },
  };
  const log = { ...silence, flush: () => void course.push('log') };
  const owned = { partition: '0', owner: 'me', wantedBy: '', wantedSince: 0, renewedAt: Date.now() };
  const record = await store.change(undefined, { ...owned, epoch: 5 });
  if (record === undefined) throw new Error('somebody else was faster');
  const released: (number | undefined)[] = [];
  const begun: string[] = [];
  const sessions = createPartitionSessions(
    { client: () => client as never, another: () => client as never },
    { release: async (_, begun) => void released.push(begun) },
    {
      ...{ batchSize: 10, prefetch: 10, maxWaitSeconds: 1, drainMs: 1_000 },
      startPosition: 'earliest',
      partitionIds: () => [],
      ...{ answerMs: 20_000, store, log, troubles: createReadingTroubles(untold), allTroubles: untold },
      sessionBegins: (partition) => void begun.push(partition),
      partition: () => ({
        ...{ budget: budgetOf(10), spool: memorySpool(), costOf: usual.costOf, limits, arrivalOf },
        dispatch: async () => true,
      }),
    },
  );
  await sessions.open(record, 41);
  return { hub, sessions, record, released, begun, course };
}

it.each<[string, Partial<Ownership>]>([
  ['another instance owns the partition', { owner: 'other', epoch: 6 }],
  ['another instance has released the partition', { owner: '', epoch: 6 }],
  ['nobody owns the partition', { owner: '' }],
  ['this instance has claimed the partition anew since', { epoch: 6 }],
])('A session is revoked when its record says that %s', async (_, changes) => {
  const { sessions, record } = await setUp();
  sessions.revokeLost([{ ...record, ...changes }]);
  expect([sessions.all(), sessions.stateOf('0')]).toEqual([[], 'revoked']);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sessions.stateOf('0')).toBeUndefined();
});

it('A checkpoint is written after pending log lines, so that each message that is not repeated has its line', async () => {
  const { hub, sessions, course } = await setUp();
  hub.append('0', hubEvent({ sequenceNumber: 1 }));
  await vi.advanceTimersByTimeAsync(2_000);
  await sessions.release('0');
  expect(course).toEqual(['log', 'checkpoint']);
});

it('A session continues when its record was renewed or another instance requests the partition', async () => {
  const { sessions, record } = await setUp();
  sessions.revokeLost([{ ...record, renewedAt: Date.now() + 1, wantedBy: 'other', wantedSince: 1, etag: 'other' }]);
  sessions.revokeLost([]);
  expect([sessions.all().length, sessions.stateOf('0')]).toEqual([1, 'reading']);
  await sessions.release('0');
});

it('A partition that is no longer read is released with the last owner’s values', async () => {
  const { sessions, record, released } = await setUp();
  await sessions.release('0');
  await sessions.releaseAll();
  await sessions.open(record, 43);
  expect(released).toEqual([41, 43]);
});

it('Sessions that are revoked after a standstill end, and the same record opens new ones', async () => {
  const { sessions, record } = await setUp();
  expect([sessions.revokeAll(), sessions.revokeAll()]).toEqual([['0'], []]);
  expect([sessions.all(), sessions.stateOf('0')]).toEqual([[], 'revoked']);
  await vi.advanceTimersByTimeAsync(2_000);
  await sessions.open(record, undefined);
  expect(sessions.all().map((session) => session.record)).toEqual([record]);
  await sessions.release('0');
});

it('Each session reports its start before it reads', async () => {
  const { sessions, record, begun } = await setUp();
  expect(begun).toEqual(['0']);
  await sessions.release('0');
  await sessions.open(record, undefined);
  expect(begun).toEqual(['0', '0']);
  await sessions.release('0');
});
