import { describe, expect, it, vi } from 'vitest';
import { behindOf } from '../../src/hub/reading/behind.ts';
import { createUnownedPartitions } from '../../src/hub/reading/unowned.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

const ago = (seconds: number) => Date.now() - seconds * 1000;
const momentAgo = (seconds: number) => performance.now() - seconds * 1000;

it.each<[string, { newest?: number; isAnswering?: boolean; undone?: number }, number | null]>([
  ['by the age of its oldest unfinished event, even if all events are read', { newest: 9, undone: 69 }, 69],
  ['by that age, also when there are unread events', { newest: 50, undone: 12 }, 12],
  ['by nothing when the last number is done', { newest: 9 }, 0],
  ['by nothing when the hub’s answer is older than what was read', { newest: 7 }, 0],
  ['by an unknown time while all read events are done and there are unread ones', { newest: 10 }, null],
  ['by an unknown time before the first answer', {}, null],
  ['by an unknown time while the hub does not answer', { newest: 9, isAnswering: false }, null],
  [
    'by an unknown time while the hub does not answer, also with unfinished events',
    { isAnswering: false, undone: 5 },
    null,
  ],
])('a partition is behind %s', (_, { newest, isAnswering = true, undone }, expected) => {
  const answer = newest === undefined ? undefined : { newest, at: 77 };
  const undoneSince = undone === undefined ? undefined : momentAgo(undone);
  expect(behindOf({ answer, isAnswering, undoneSince, position: 9 })).toEqual({
    behindSeconds: expected,
    asOf: answer && 77,
  });
});

describe('a partition that no instance reads', () => {
  /** With a checkpoint at 9 and a hub that has come so far; its first event after it is a minute old at the first look. */
  function setUp({
    newest = 9,
    startPosition = 'earliest' as 'earliest' | 'latest',
    checkpoint = 9 as number | 'none',
  }) {
    const hub = { newest, hasFailed: false };
    const asked: (string | undefined)[] = [];
    const failures: string[] = [];
    const stored = { sequenceNumber: checkpoint === 'none' ? undefined : checkpoint, isDamaged: false };
    const receivedAt = new Date(ago(60));
    const unowned = createUnownedPartitions({
      async checkpointOf() {
        if (stored.isDamaged) throw new Error('damaged');
        return stored.sequenceNumber === undefined
          ? undefined
          : { sequenceNumber: stored.sequenceNumber, offset: `${stored.sequenceNumber}0` };
      },
      startPosition,
      newest: { of: () => ({ newest: hub.newest, at: 3 }), hasFailed: () => hub.hasFailed },
      async firstAfter(_, offset) {
        asked.push(offset);
        return receivedAt;
      },
      everyMs: 10_000,
      couldNotAsk: (partition) => failures.push(partition),
    });
    async function look() {
      unowned.look(['4']);
      await vi.advanceTimersByTimeAsync(10_000);
      return unowned.all()[0]?.behindSeconds;
    }
    return { unowned, look, hub, asked, stored, failures };
  }

  it('is not behind when its checkpoint is at the newest event', async () => {
    const { look, asked, unowned } = setUp({});
    expect(await look()).toBe(0);
    expect(asked).toEqual([]);
    expect(unowned.all()).toEqual([{ partition: '4', behindSeconds: 0, asOf: 3 }]);
  });

  it('is behind by the age of the first event after its checkpoint, which is read once', async () => {
    const { look, asked } = setUp({ newest: 12 });
    expect([await look(), await look(), await look()]).toEqual([70, 80, 90]);
    expect(asked).toEqual(['90']);
  });

  it('has a new first event after the next checkpoint', async () => {
    const { look, asked, stored } = setUp({ newest: 12 });
    await look();
    stored.sequenceNumber = 11;
    await look();
    expect(asked).toEqual(['90', '110']);
    stored.sequenceNumber = 12;
    expect(await look()).toBe(0);
  });

  it('is measured from the start position when it has no checkpoint', async () => {
    const earliest = setUp({ checkpoint: 'none' });
    expect([await earliest.look(), earliest.asked]).toEqual([70, [undefined]]);
    const latest = setUp({ checkpoint: 'none', startPosition: 'latest' });
    expect([await latest.look(), latest.asked]).toEqual([0, []]);
  });

  it('has no figure while its checkpoint cannot be read, or the hub does not answer', async () => {
    const { look, stored, hub, failures } = setUp({});
    stored.isDamaged = true;
    expect([await look(), failures]).toEqual([null, ['4']]);
    stored.isDamaged = false;
    expect(await look()).toBe(0);
    hub.hasFailed = true;
    expect(await look()).toBe(null);
  });

  it('is removed when an instance reads it', async () => {
    const { look, unowned } = setUp({});
    await look();
    unowned.look([]);
    expect(unowned.all()).toEqual([]);
  });
});
