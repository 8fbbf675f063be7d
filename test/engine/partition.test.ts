import { describe, expect, it, vi } from 'vitest';
import { createBudget } from '../../src/engine/budget.ts';
import type { Gap } from '../../src/engine/partition.ts';
import { type Checkpoint, createRedeliveryHorizon } from '../../src/engine/progressTracker.ts';
import { type HubEvent, undecodedProperties } from '../../src/protocol/event.ts';
import { withFakeTimers } from '../support/waiting.ts';
import {
  budgetOf,
  events,
  limits,
  partitionByHand,
  partitionWith,
  positions,
  receivedMessageOf,
} from './support/partitions.ts';

withFakeTimers();

describe('a partition', () => {
  it('start a1 a2 b3, finish b3: the checkpoint stays before 1 and remembers 3; finish a1, a2: the checkpoint is 3', async () => {
    const { started, checkpoints, end } = await partitionWith('t0 a1 a2 b3');
    expect(started).toEqual([1, 3]);
    await end(3);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checkpoints).toEqual([{ sequenceNumber: 0, offset: '0', completed: expect.stringMatching(/^2 0 /) }]);
    await end(1);
    await end(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checkpoints.at(-1)).toEqual({ sequenceNumber: 3, offset: '3000', completed: '' });
  });

  it('does not repeat after a restart the messages done behind a slow one', async () => {
    const first = partitionByHand();
    await first.partition.admit(events('t0 a1 b2 c3 b4'));
    await first.end(2);
    await first.end(4);
    await vi.advanceTimersByTimeAsync(10_000);
    const second = partitionByHand({ progress: first.checkpoints.at(-1) });
    await second.partition.admit(events('a1 b2 c3 b4 d5'));
    expect(second.started).toEqual([1, 3, 5]);
    for (const one of [1, 3, 5]) await second.end(one);
    await second.partition.drain(0);
    expect(positions(second.checkpoints)).toEqual([5]);
  });

  it('marks messages that another instance may have handled before the takeover', async () => {
    const repeats: number[] = [];
    const { partition } = partitionByHand({
      redeliveryHorizon: createRedeliveryHorizon(2),
      receivedMessageOf(event, redelivered) {
        if (redelivered) repeats.push(event.sequenceNumber);
        return receivedMessageOf(event);
      },
    });
    await partition.admit(events('a1 b2 c3'));
    expect(repeats).toEqual([1, 2]);
  });

  it('asks for the redelivery horizon before the first message, and not for a batch without events', async () => {
    let answer = () => {};
    let looks = 0;
    const look = () => {
      looks += 1;
      return new Promise<void>((resolve) => (answer = resolve));
    };
    const { partition, started } = partitionByHand({ redeliveryHorizon: { ...createRedeliveryHorizon(-1), look } });
    await partition.admit([]);
    expect(looks).toBe(0);
    const enqueuedTimeUtc = new Date(Date.now() - 400);
    const admitting = partition.admit(events('a1 b2').map((event) => ({ ...event, enqueuedTimeUtc })));
    await vi.advanceTimersByTimeAsync(0);
    expect([looks, started]).toEqual([1, []]);
    expect(Math.round(performance.now() - (partition.contents().undoneSince ?? 0))).toBe(400);
    answer();
    await admitting;
    expect(started).toEqual([1, 2]);
  });

  it('writes another checkpoint for messages that ended during the last write', async () => {
    const written: Checkpoint[] = [];
    let answer: (ok: boolean) => void = () => {};
    const { partition, end } = partitionByHand({
      limits: { ...limits, everyMessages: 1 },
      checkpoint(progress) {
        written.push(progress);
        return new Promise((resolve) => (answer = resolve));
      },
    });
    await partition.admit(events('a1 b2'));
    await end(1);
    await end(2);
    answer(true);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(positions(written)).toEqual([1, 2]);
  });

  it('takes no more events than the budget allows; the rest stays in the hub', async () => {
    const { partition, started, end } = partitionByHand({ budget: budgetOf(2) });
    let admitted = false;
    void partition.admit(events('a1 b2 c3')).then(() => (admitted = true));
    await vi.advanceTimersByTimeAsync(0);
    expect([started, admitted]).toEqual([[1, 2], false]);
    await end(2);
    expect([started, admitted]).toEqual([[1, 2, 3], true]);
  });

  it('reports each gap in the sequence numbers once; the first event and a repeat are not gaps', async () => {
    const gaps: Gap[] = [];
    const progress = { sequenceNumber: 3, offset: '3000', completed: '' };
    const { partition } = await partitionWith('a7 t8', { progress, onGap: (gap) => void gaps.push(gap) });
    expect(gaps).toEqual([]);
    await partition.admit(events('b11 t12'));
    await partition.admit(events('b11 t12 t14'));
    expect(gaps).toEqual([
      { after: 8, next: 11 },
      { after: 12, next: 14 },
    ]);
  });

  it('skips an event without a position: the gap that follows shows it', async () => {
    const gaps: Gap[] = [];
    const read: (number | undefined)[] = [];
    const { partition, started, checkpoints, end } = partitionByHand({
      limits: { ...limits, everyMessages: 1 },
      receivedMessageOf(event) {
        read.push(event.sequenceNumber);
        return event.body === undecodedProperties ? undefined : receivedMessageOf(event);
      },
      onGap: (gap) => void gaps.push(gap),
    });
    const [first, last] = events('a1 b3') as [HubEvent, HubEvent];
    await partition.admit([first, { body: undecodedProperties } as HubEvent, last]);
    expect([read, started, gaps]).toEqual([[1, undefined, 3], [1, 3], [{ after: 1, next: 3 }]]);
    expect(partition.position()).toEqual({ sequenceNumber: 3, offset: '3000' });
    await end(1);
    await end(3);
    expect(positions(checkpoints).at(-1)).toBe(3);
  });

  it('tells messages when they were read, and has the enqueued time of the oldest unfinished one', async () => {
    const { partition, stays, end } = partitionByHand();
    const age = () => {
      const { undoneSince } = partition.contents();
      return undoneSince && Math.round(performance.now() - undoneSince);
    };
    const received = (event: HubEvent | undefined, ms: number) =>
      event ? [{ ...event, enqueuedTimeUtc: new Date(Date.now() - ms) }] : [];
    expect(age()).toBeUndefined();
    const [first, second, third] = events('a1 b2 t3');
    await partition.admit(received(first, 400));
    const readAt = performance.now();
    await vi.advanceTimersByTimeAsync(1_000);
    await partition.admit([...received(second, 90), ...received(third, 80)]);
    expect(stays.map((context) => context.readAt)).toEqual([readAt, readAt + 1_000]);
    expect(age()).toBe(1_400);
    await end(1);
    expect(age()).toBe(90);
    await end(2);
    expect(age()).toBeUndefined();
  });

  it.each([-3_600_000, 3_600_000])('knows the age of messages by a clock that changes by %i ms', async (stepMs) => {
    const { partition } = partitionByHand();
    const event = events('a1').map((one) => ({ ...one, enqueuedTimeUtc: new Date(Date.now() - 400) }));
    await partition.admit(event);
    vi.setSystemTime(Date.now() + stepMs);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(Math.round(performance.now() - (partition.contents().undoneSince ?? 0))).toBe(1_400);
  });

  it('never checkpoints a message that was not handled to its end', async () => {
    const { partition, checkpoints, end } = await partitionWith('t1 a2 t3');
    await end(2, false);
    expect([await partition.drain(0), positions(checkpoints)]).toEqual([1, [1]]);
  });
});

describe('a message that has failed through our side', () => {
  async function failed(answers: readonly ('written' | 'store is out')[]) {
    const left = [...answers];
    let answer: (() => void) | undefined;
    const byHand = await partitionWith('t0 a1 a2 b3 b4', {
      checkpoint: () =>
        new Promise((resolve, reject) => {
          const next = left.shift();
          answer = () => (next === 'written' ? resolve(true) : reject(new Error('the store is out')));
        }),
    });
    byHand.stays[0]?.failed();
    await byHand.end(1);
    async function answered() {
      answer?.();
      await vi.advanceTimersByTimeAsync(500);
    }
    return { ...byHand, answered };
  }

  it('is in a checkpoint before the next message of its device begins: repeated behind it, it would undo it', async () => {
    const { started, end, answered } = await failed(['written']);
    await end(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(started).toEqual([1, 3, 4]);
    await answered();
    expect(started).toEqual([1, 3, 4, 2]);
  });

  it('waits for a store that is out, and a drain does not wait for it', async () => {
    const { started, answered } = await failed(['store is out', 'store is out', 'written']);
    await answered();
    await answered();
    expect(started).toEqual([1, 3]);
    await answered();
    expect(started).toEqual([1, 3, 2]);
    const stopped = await failed(['store is out', 'store is out', 'written']);
    await stopped.answered();
    await stopped.end(3, false);
    const drained = stopped.partition.drain(1_000);
    await stopped.answered();
    await stopped.answered();
    await vi.advanceTimersByTimeAsync(10_000);
    await stopped.answered();
    expect(await drained).toBe(3);
    expect(stopped.started).not.toContain(2);
  });
});

describe('a message that waits for room in the budget', () => {
  const none = { messages: 0, bytes: 0 };

  it('does not take it when its backend has gone meanwhile', async () => {
    let isUp = true;
    const { partition, started, end } = partitionByHand({
      budget: budgetOf(1),
      dependenciesOf: ({ deviceId }) => ({
        areAvailable: () => deviceId !== 'b' || isUp,
        met: () => new Promise(() => {}),
      }),
    });
    void partition.admit(events('a1 b2 c3'));
    await vi.advanceTimersByTimeAsync(0);
    isUp = false;
    await end(1);
    expect(started).toEqual([1, 3]);
  });

  it('does not take it when the partition closes at that moment', async () => {
    const { partition, budget, started } = partitionByHand({ budget: budgetOf(1) });
    void budget.all.take(1);
    void partition.admit(events('a1'));
    await vi.advanceTimersByTimeAsync(0);
    budget.all.give(1);
    partition.revoke();
    await vi.advanceTimersByTimeAsync(0);
    expect([started, budget.inFlight(), partition.position()]).toEqual([[], none, undefined]);
  });

  it('delays no small one that comes after it, when it is large', async () => {
    const { partition, started, end } = partitionByHand({
      budget: createBudget({ maxMessages: 10, maxBytes: 40_000 }),
      costOf: (event) => (event.properties?.['device'] === 'b' ? 1 : 20_000),
    });
    await partition.admit(events('a1 c2 b3'));
    expect(started).toEqual([1, 3]);
    await end(1);
    expect(started).toEqual([1, 3, 2]);
  });
});

it('subscriptions that overlap deliver each event once, even if the first still waits for room', async () => {
  const { partition, started, end } = partitionByHand({ budget: budgetOf(1) });
  void partition.admit(events('a1 b2'));
  void partition.admit(events('b2 c3'));
  await vi.advanceTimersByTimeAsync(0);
  for (const one of [1, 2, 3]) await end(one);
  expect(started).toEqual([1, 2, 3]);
});

describe('a fault of the service', () => {
  // Trap 9: whatever leaves the handler of the hub client stops the partition or skips the batch.
  it('with one event does not stop the partition: the event is skipped', async () => {
    const { partition, started, checkpoints, failures, end } = partitionByHand({
      receivedMessageOf(event) {
        if (event.sequenceNumber === 2) throw new Error('cannot be looked at');
        return receivedMessageOf(event);
      },
    });
    await partition.admit(events('a1 b2 c3'));
    await end(1);
    await end(3);
    await partition.drain(0);
    expect([started, failures, positions(checkpoints)]).toEqual([[1, 3], ['event passed over'], [3]]);
  });

  function failing<T>({ sequenceNumber }: HubEvent, otherwise: T): T {
    if (sequenceNumber === 2) throw new Error('cannot be looked at');
    return otherwise;
  }
  it.each<[string, Parameters<typeof partitionByHand>[0], Partial<HubEvent>]>([
    ['whose time the hub has not stamped', {}, { enqueuedTimeUtc: undefined as never }],
    ['whose cost cannot be told', { costOf: (event) => failing(event, 1) }, {}],
    ['whose backends cannot be told', { dependenciesOf: ({ event }) => failing(event, undefined) }, {}],
    ['that cannot be followed', { publisherOf: ({ event }) => failing(event, undefined) }, {}],
  ])('with an event %s stops neither its batch nor those after it: the event is skipped', async (_, given, odd) => {
    const { partition, started, checkpoints, failures, budget, end } = partitionByHand(given);
    const [first, second, third, fourth] = events('a1 b2 c3 d4');
    await partition.admit([first, { ...second, ...odd }, third] as HubEvent[]);
    await partition.admit([fourth as HubEvent]);
    for (const one of [1, 3, 4]) await end(one);
    expect(await partition.drain(0)).toBe(0);
    expect([started, failures, positions(checkpoints)]).toEqual([[1, 3, 4], ['event passed over'], [4]]);
    expect(budget.inFlight().messages).toBe(0);
  });

  it('with one message does not stop its device, the partition or the process', async () => {
    const started: number[] = [];
    const { partition, checkpoints, failures, budget } = partitionByHand({
      async dispatch({ event }) {
        started.push(event.sequenceNumber);
        if (event.sequenceNumber === 1) throw new Error('a fault of the service');
        return true;
      },
    });
    await partition.admit(events('a1 a2 b3'));
    await vi.advanceTimersByTimeAsync(0);
    expect([started.toSorted(), failures]).toEqual([[1, 2, 3], ['message given up']]);
    await partition.drain(0);
    expect([positions(checkpoints), budget.inFlight()]).toEqual([[3], { messages: 0, bytes: 0 }]);
  });
});
