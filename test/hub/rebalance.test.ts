import { describe, expect, it, vi } from 'vitest';
import type { PartitionSession, SessionState } from '../../src/hub/reading/assignment.ts';
import type { SeenLease } from '../../src/hub/reading/leases.ts';
import { createReadingTroubles } from '../../src/hub/reading/readingTroubles.ts';
import { createRounds } from '../../src/hub/reading/rebalance.ts';
import { StoreFailure } from '../../src/observing/storeFailure.ts';
import { signal, withFakeTimers } from '../support/waiting.ts';
import { claimed } from './support/claims.ts';
import { silence, untold } from './support/replying.ts';

withFakeTimers();

const roundMs = 5_000;
const expiryMs = 30_000;
const refusal = { cause: 'refused', level: 'error', hubSaid: 'no', todo: 'look', isAnswer: true } as const;
const seen = (partition: string, owner: string): SeenLease => ({
  ...claimed(owner, 1, partition),
  ...{ etag: 'e', unrenewedMs: 0, wantedMs: 0 },
});

/** The rounds of `me` over these records. `course` has what they ask of the sessions and of the store, in order. */
function setUp(records: readonly SeenLease[]) {
  const observation: string[] = [];
  const states = new Map<string, SessionState>();
  const troubles: string[] = [];
  const failing = new Set<string>();
  const hanging = new Set<string>();
  const readingTroubles = createReadingTroubles(untold);
  let renewal = Promise.resolve();
  let failure: Error | undefined;
  const does = async (what: string, { partition }: { readonly partition: string }) => {
    observation.push(`${what} ${partition}`);
    if (failing.has(`${what} ${partition}`)) throw new Error('no store');
    if (hanging.has(`${what} ${partition}`)) await new Promise(() => {});
  };
  const sessionsIn = (...some: readonly SessionState[]) =>
    [...states].flatMap(([partition, state]) =>
      some.includes(state) ? [{ record: claimed('me', 1, partition) } as PartitionSession] : [],
    );
  const rounds = createRounds({
    ...{ me: 'me', roundMs, balance: { expiryMs, forceMs: 55_000 }, log: silence },
    partitionIds: { all: () => ['0', '1'], look: async () => {} },
    ownerships: {
      async look() {
        if (failure) throw failure;
        return [...records];
      },
      async renew(record) {
        await renewal;
        await does('renew', record);
        return record;
      },
      async claim(partition) {
        await does('claim', { partition });
        return { ...claimed('me', 2, partition), etag: 'f' };
      },
      restore: (record) => does('restore', record).then(() => record),
      ask: (record) => does('ask', record).then(() => record),
      withdraw: (record) => does('withdraw', record).then(() => record),
      async release() {},
    },
    sessions: {
      ...{ revokeLost() {}, revokeAll: () => [], leftSince: () => 0, async releaseAll() {} },
      reading: () => sessionsIn('reading'),
      all: () => sessionsIn('reading', 'draining', 'revoked'),
      stateOf: (partition) => states.get(partition),
      async open(record) {
        await does('open', record);
        states.set(record.partition, 'reading');
      },
      release: (partition) => does('release', { partition }),
    },
    troubles: readingTroubles,
    allTroubles: { raise: (of) => void troubles.push(`raise ${of}`), clear: (of) => void troubles.push(`clear ${of}`) },
    watch() {},
    failedIdle: () => void observation.push('idle'),
  });
  return {
    ...{ rounds, observation, states, troubles, failing, hanging, readingTroubles },
    renewalLasts(until: Promise<void>) {
      renewal = until;
    },
    storeFails(error: Error | undefined) {
      failure = error;
    },
  };
}

describe('a round', () => {
  it('opens what is owned and not read, and claims and opens what nobody owns', async () => {
    const { rounds, observation } = setUp([seen('0', 'me')]);
    await rounds.run();
    expect(observation.toSorted()).toEqual(['claim 1', 'open 0', 'open 1', 'renew 0']);
    expect(rounds.last()).toMatchObject({ owned: ['0', '1'], storeTrouble: undefined });
  });

  it('awaits what it asks for, from then on until it has it', async () => {
    const records = [seen('0', 'other'), seen('1', 'other')];
    const { rounds, observation } = setUp(records);
    await rounds.run();
    expect([observation.length, observation[0]?.split(' ')[0], rounds.last().isAwaiting]).toEqual([1, 'ask', true]);
    const asked = observation[0]?.at(-1) ?? '';
    records.splice(Number(asked), 1, { ...seen(asked, 'other'), wantedBy: 'me', wantedMs: 1 });
    await rounds.run();
    expect(rounds.last().isAwaiting).toBe(true);
    records.splice(Number(asked), 1, seen(asked, 'me'));
    await rounds.run();
    expect(rounds.last()).toMatchObject({ isAwaiting: false, owned: [asked] });
  });

  it('does not claim a partition whose session has not ended here', async () => {
    for (const state of ['revoked', 'draining'] as const) {
      const { rounds, observation, states } = setUp([seen('0', 'me'), seen('1', '')]);
      states.set('0', 'reading').set('1', state);
      await rounds.run();
      expect(observation).toEqual(['renew 0']);
    }
  });

  it('does not open again what is released while it renews', async () => {
    const { rounds, observation, states, renewalLasts } = setUp([seen('0', 'me'), seen('1', 'me')]);
    states.set('0', 'draining').set('1', 'reading');
    const { given, give } = signal();
    renewalLasts(given);
    const running = rounds.run();
    await vi.advanceTimersByTimeAsync(0);
    states.delete('0');
    give();
    await running;
    expect(observation).toEqual(['renew 0', 'renew 1']);
    await rounds.run(); // its record says by now whose it is: here it is still this instance's
    expect(observation.slice(2)).toEqual(['renew 0', 'renew 1', 'open 0']);
  });

  it('opens the other partitions when one cannot be opened, and then fails', async () => {
    const { rounds, observation, troubles, failing } = setUp([seen('0', 'me'), seen('1', 'me')]);
    failing.add('open 0');
    await rounds.run();
    expect(observation).toEqual(['renew 0', 'renew 1', 'open 0', 'open 1']);
    expect(troubles).toEqual(['raise looking after the partitions']);
    failing.clear();
    await rounds.run();
    expect(troubles.at(-1)).toBe('clear looking after the partitions');
  });

  it('ends in time for the next one to renew when a partition is opened without end', async () => {
    const { rounds, troubles, hanging } = setUp([seen('0', 'me'), seen('1', 'me')]);
    hanging.add('open 0');
    const running = rounds.run();
    await vi.advanceTimersByTimeAsync(expiryMs / 3);
    await running;
    expect(troubles).toEqual(['raise looking after the partitions']);
  });

  it('writes the record again of a partition that is read, and of no other', async () => {
    const { rounds, observation, states } = setUp([]);
    states.set('0', 'reading').set('1', 'draining');
    await rounds.run();
    expect(observation).toEqual(['restore 0']);
  });

  it('claims the other partitions when a record cannot be renewed, and then fails', async () => {
    const { rounds, observation, troubles, failing } = setUp([seen('0', 'me')]);
    failing.add('renew 0');
    await rounds.run();
    expect(observation).toEqual(['renew 0', 'claim 1', 'open 1']);
    expect(troubles).toEqual(['raise looking after the partitions']);
  });

  it.each<[string, SessionState | undefined, boolean, { opened: boolean; incomplete: boolean }]>([
    ['has no session', undefined, false, { opened: true, incomplete: true }],
    ['has no session, as the hub refuses it', undefined, true, { opened: true, incomplete: false }],
    ['is being opened', 'opening', false, { opened: false, incomplete: true }],
    ['is being opened again after a refusal', 'opening', true, { opened: false, incomplete: false }],
    ['is read', 'reading', false, { opened: false, incomplete: false }],
    ['drains', 'draining', false, { opened: false, incomplete: false }],
    ['is revoked and has not ended', 'revoked', false, { opened: false, incomplete: false }],
  ])('opens an owned partition, or lacks it, when it %s', async (_, state, isRefused, { opened, incomplete }) => {
    const { rounds, observation, states, readingTroubles } = setUp([seen('0', 'me'), seen('1', 'me')]);
    states.set('0', 'reading');
    if (state !== undefined) states.set('1', state);
    if (isRefused) readingTroubles.raise('1', refusal);
    await rounds.run();
    expect(observation).toEqual(['renew 0', 'renew 1', ...(opened ? ['open 1'] : [])]);
    expect(rounds.last()).toMatchObject({ owned: ['0', '1'], isAllElsewhere: false });
    expect(rounds.last().unreadSince !== undefined).toBe(incomplete);
  });

  it('lacks nothing when partitions are still to be claimed', async () => {
    const { rounds } = setUp([]);
    await rounds.run();
    expect([rounds.last().owned.toSorted(), rounds.last().unreadSince]).toEqual([['0', '1'], undefined]);
  });

  it.each<[string, SeenLease[], boolean]>([
    ['when each has a record and nothing is to be done here', [seen('0', 'other'), seen('1', 'third')], true],
    ['also when the hub lacks one of them', [seen('0', 'other'), seen('1', 'third'), seen('7', 'third')], true],
    ['but not when one has never been read', [seen('0', 'other'), seen('7', 'third')], false],
    ['but not when one is owned here', [seen('0', 'other'), seen('1', 'me')], false],
  ])('finds that other instances read all partitions %s', async (_, records, expected) => {
    const { rounds } = setUp(records);
    await rounds.run();
    expect(rounds.last().isAllElsewhere).toBe(expected);
  });

  it('ends the trouble with what is not this instance’s any more', async () => {
    const { rounds, readingTroubles } = setUp([seen('0', 'other'), seen('1', 'me')]);
    for (const place of ['0', '1', 'hub']) readingTroubles.raise(place, refusal);
    await rounds.run();
    expect(readingTroubles.places()).toEqual(['1', 'hub']);
  });

  it('that fails has the connection replaced only while nothing is read', async () => {
    const { rounds, observation, states, storeFails } = setUp([seen('0', 'me'), seen('1', 'me')]);
    storeFails(new Error('no store'));
    await rounds.run();
    expect(observation).toEqual(['idle']);
    states.set('0', 'reading');
    await rounds.run();
    expect(observation).toEqual(['idle']);
  });

  it('has the time since when a partition is not read, from round to round, until it is', async () => {
    const { rounds, failing } = setUp([seen('0', 'me'), seen('1', 'me')]);
    failing.add('open 0');
    const since = performance.now();
    for (let index = 0; index < 3; index += 1) {
      await rounds.run();
      expect(rounds.last().unreadSince).toBe(since);
      await vi.advanceTimersByTimeAsync(roundMs);
    }
    failing.clear();
    await rounds.run();
    await rounds.run();
    expect(rounds.last().unreadSince).toBeUndefined();
  });

  it('has the failure of the store that kept it from its end, until one comes to its end', async () => {
    const { rounds, storeFails } = setUp([seen('0', 'other'), seen('1', 'me')]);
    const diagnosis = { setting: 'STORE', storeSaid: 'no answer', todo: 'look' };
    const begun = rounds.last().answeredAt;
    await vi.advanceTimersByTimeAsync(roundMs);
    storeFails(new StoreFailure('no answer', 'unavailable', diagnosis));
    await rounds.run();
    expect(rounds.last()).toMatchObject({ storeTrouble: diagnosis, answeredAt: begun });
    storeFails(undefined);
    await rounds.run();
    expect(rounds.last()).toMatchObject({ storeTrouble: undefined, answeredAt: begun + roundMs });
  });
});
