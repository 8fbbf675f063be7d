import { expect, it, vi } from 'vitest';
import { createTroubles } from '../../src/log/troubles.ts';
import type { Ownership } from '../../src/hub/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/hub/stores/memoryStore.ts';
import { hubEvent } from '../support/events.ts';
import { withFakeTimers } from '../support/fakeTimers.ts';
import { recordingLog } from '../support/recordingLog.ts';
import { silence } from './support/replying.ts';
import { openSessions } from './support/sessions.ts';

withFakeTimers();

/** The sessions of an instance that owns partition 0, whose session reads. `course` tells what comes first, log or store. */
async function setUp() {
  const course: string[] = [];
  const released: (number | undefined)[] = [];
  const begun: string[] = [];
  const memory = createMemoryStore();
  const { hub, sessions, records } = await openSessions({
    messages: 0,
    store: {
      ...memory,
      writeProgress(reader, progress) {
        course.push('checkpoint');
        return memory.writeProgress(reader, progress);
      },
    },
    log: { ...silence, flush: () => void course.push('log') },
    release: async (_, begun) => void released.push(begun),
    sessionBegins: (partition) => void begun.push(partition),
  });
  return { hub, sessions, record: records[0] as Ownership, released, begun, course };
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

it('A checkpoint that is written again ends the trouble of one that was not', async () => {
  const log = recordingLog();
  const allTroubles = createTroubles(log);
  const memory = createMemoryStore();
  let isOut = true;
  const writeProgress: typeof memory.writeProgress = (...given) =>
    isOut ? Promise.reject(new Error('the store is out')) : memory.writeProgress(...given);
  const { hub } = await openSessions({ messages: 0, store: { ...memory, writeProgress }, allTroubles });
  hub.append('0', hubEvent({ sequenceNumber: 1 }));
  await vi.advanceTimersByTimeAsync(6_000);
  expect(log.lines).toMatchObject([{ level: 'error', message: 'checkpoint not written' }]);
  isOut = false;
  await vi.advanceTimersByTimeAsync(6_000);
  expect(log.lines.slice(1)).toMatchObject([{ level: 'info', fields: { partition: '0' } }]);
  allTroubles.close();
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
