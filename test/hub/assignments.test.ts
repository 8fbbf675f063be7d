import { expect, it, vi } from 'vitest';
import type { PartitionSessions } from '../../src/hub/reading/assignments.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { type Lease, UnreadableCheckpoint } from '../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { hubEvent } from '../support/events.ts';
import { recordingLog } from '../support/observed.ts';
import { signal, withFakeTimers } from '../support/waiting.ts';
import { openSessions } from './support/assignments.ts';
import { claimed } from './support/claims.ts';
import { silence } from './support/replying.ts';

withFakeTimers();

/** The sessions of an instance that owns partition 0, whose session reads. `course` tells what comes first, log or store. */
async function setUp() {
  const observation: string[] = [];
  const released: (number | undefined)[] = [];
  const begun: string[] = [];
  const memory = createMemoryStore();
  const { hub, sessions, records } = await openSessions({
    messages: 0,
    store: {
      ...memory,
      writeCheckpoint(reader, progress) {
        observation.push('checkpoint');
        return memory.writeCheckpoint(reader, progress);
      },
    },
    log: { ...silence, flush: () => void observation.push('log') },
    release: async (_, begun) => void released.push(begun),
    sessionBegins: (partition) => void begun.push(partition),
  });
  return { hub, sessions, record: records[0] as Lease, released, begun, observation };
}

/** An instance that reads nothing: the checkpoint is damaged. */
async function setUpDamaged() {
  const released: (number | undefined)[] = [];
  const { sessions } = await openSessions({
    ...{ partitions: 0, messages: 0 },
    store: {
      async progress() {
        throw new UnreadableCheckpoint('it is damaged');
      },
    },
    release: async (_record, begun) => void released.push(begun),
  });
  return { sessions, released };
}

it.each<[string, Partial<Lease>]>([
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
  const { hub, sessions, observation } = await setUp();
  hub.append('0', hubEvent({ sequenceNumber: 1 }));
  await vi.advanceTimersByTimeAsync(2_000);
  await sessions.release('0');
  expect(observation).toEqual(['log', 'checkpoint']);
});

it('A checkpoint that is written again ends the trouble of one that was not', async () => {
  const log = recordingLog();
  const allTroubles = createTroubles(log);
  const memory = createMemoryStore();
  let isOut = true;
  const writeCheckpoint: typeof memory.writeCheckpoint = (...given) =>
    isOut ? Promise.reject(new Error('the store is out')) : memory.writeCheckpoint(...given);
  const { hub } = await openSessions({ messages: 0, store: { ...memory, writeCheckpoint }, allTroubles });
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
  await sessions.open(record, { begun: 43, afterUncleanShutdown: false });
  expect(released).toEqual([41, 43]);
});

it.each([
  ['which the balance gives away', (sessions: PartitionSessions) => sessions.release('0')],
  ['at a stop', (sessions: PartitionSessions) => sessions.releaseAll()],
])('A partition that could not be opened is released as its last owner left it: one %s', async (_, release) => {
  const { sessions, released } = await setUpDamaged();
  const record = { ...claimed('me', 1), etag: 'e' };
  await sessions.open(record, { begun: 43, afterUncleanShutdown: false });
  await sessions.open(record);
  expect(sessions.stateOf('0')).toBe(undefined);
  await release(sessions);
  await sessions.releaseAll();
  expect(released).toEqual([43]);
});

it('A partition whose opening fails during a stop is released, too', async () => {
  const { given: answered, give: answer } = signal();
  const released: (number | undefined)[] = [];
  const { sessions } = await openSessions({
    ...{ partitions: 0, messages: 0 },
    store: {
      async progress() {
        await answered;
        throw new UnreadableCheckpoint('it is damaged');
      },
    },
    release: async (_record, begun) => void released.push(begun),
  });
  const opening = sessions.open({ ...claimed('me', 1), etag: 'e' }, { begun: 43, afterUncleanShutdown: false });
  await sessions.releaseAll();
  expect(released).toEqual([]);
  answer();
  await opening;
  expect(released).toEqual([43]);
});

it('What was left before another instance had the partition is not what that one has left', async () => {
  const { sessions, released } = await setUpDamaged();
  await sessions.open({ ...claimed('me', 1), etag: 'e' }, { begun: 43, afterUncleanShutdown: false });
  await sessions.open({ ...claimed('me', 3), etag: 'e' });
  await sessions.releaseAll();
  expect(released).toEqual([undefined]);
});

it('Sessions that are revoked after a standstill end, and the same record opens new ones', async () => {
  const { sessions, record } = await setUp();
  expect([sessions.revokeAll('stood_still'), sessions.revokeAll('stood_still')]).toEqual([['0'], []]);
  expect([sessions.all(), sessions.stateOf('0')]).toEqual([[], 'revoked']);
  await vi.advanceTimersByTimeAsync(2_000);
  await sessions.open(record, undefined);
  expect(sessions.all().map((session) => session.record)).toEqual([record]);
  await sessions.release('0');
});

it('What a session leaves undone is known until its partition is read again', async () => {
  const { given: handling, give: end } = signal();
  const { hub, sessions, records } = await openSessions({ messages: 3, handling });
  await vi.advanceTimersByTimeAsync(0);
  expect(sessions.leftSince(0)).toBe(0);
  void sessions.release('0');
  await vi.advanceTimersByTimeAsync(3_000);
  const after = performance.now() + 1;
  expect([sessions.leftSince(0), sessions.leftSince(after)]).toEqual([3, 0]);
  await sessions.open(records[0] as Lease, undefined);
  hub.append('0', hubEvent({ sequenceNumber: 3 }));
  await vi.advanceTimersByTimeAsync(0);
  expect(sessions.leftSince(0)).toBe(0);
  end();
  sessions.revokeAll('stood_still');
});

it('Each session reports its start before it reads', async () => {
  const { sessions, record, begun } = await setUp();
  expect(begun).toEqual(['0']);
  await sessions.release('0');
  await sessions.open(record, undefined);
  expect(begun).toEqual(['0', '0']);
  await sessions.release('0');
});

it.each([
  ['while its start is looked up', 1],
  ['before', 0],
])('A partition is released, and not read, when all are released %s', async (_, looks) => {
  const released: (number | undefined)[] = [];
  const begun: string[] = [];
  const { given: answer, give } = signal<undefined>();
  let asked = 0;
  const { sessions } = await openSessions({
    ...{ partitions: 0, messages: 0 },
    store: {
      progress() {
        asked += 1;
        return answer;
      },
    },
    release: async (_record, newest) => void released.push(newest),
    sessionBegins: (partition) => void begun.push(partition),
  });
  const record = { ...claimed('me', 1), etag: 'e' };
  if (looks === 0) await sessions.releaseAll();
  const opening = sessions.open(record, { begun: 43, afterUncleanShutdown: false });
  expect(sessions.stateOf('0')).toBe('opening');
  if (looks > 0) await sessions.releaseAll();
  give(undefined);
  await vi.advanceTimersByTimeAsync(0);
  await opening;
  expect([asked, released, begun, sessions.all(), sessions.stateOf('0')]).toEqual([looks, [43], [], [], undefined]);
});

it('A session is revoked when the hub has another reader for its partition', async () => {
  const { sessions, disconnect } = await openSessions();
  await disconnect('0');
  expect([sessions.all(), sessions.stateOf('0')]).toEqual([[], 'revoked']);
});

it('The release of all partitions takes as long as their drain, and no longer although it hangs', async () => {
  const { given: handled, give: end } = signal();
  for (const hangs of [false, true]) {
    const { sessions } = await openSessions({
      ...{ drainMs: 30_000, handling: handled },
      release: () => (hangs ? new Promise(() => {}) : Promise.resolve()),
    });
    await vi.advanceTimersByTimeAsync(1_000);
    let isOver = false;
    void sessions.releaseAll().then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(29_999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(hangs ? 10_001 : 1_001);
    expect(isOver).toBe(true);
  }
  end();
});
