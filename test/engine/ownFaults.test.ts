import { describe, expect, it, vi } from 'vitest';
import type { HubEvent } from '../../src/protocol/event.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { memorySpool } from './support/memorySpool.ts';
import { arrivalOf, events, limits, partitionByHand, partitionWith, positions } from './support/partitions.ts';

withFakeTimers();

const oneInMemory = { limits: { ...limits, deviceMessages: 1 } };

describe('a fault of the service', () => {
  // Trap 9: whatever leaves the handler of the hub client stops the partition or skips the batch.
  it('with one event does not stop the partition: the event is skipped', async () => {
    const { partition, started, checkpoints, failures, end } = partitionByHand({
      arrivalOf(event) {
        if (event.sequenceNumber === 2) throw new Error('cannot be looked at');
        return arrivalOf(event);
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
    ['whose backends cannot be told', { requirementOf: ({ event }) => failing(event, undefined) }, {}],
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

  it('with an event from the spool does not stop its device: the event is skipped', async () => {
    let readings = 0;
    const { partition, started, checkpoints, failures, budget, end } = partitionByHand({
      ...oneInMemory,
      spool: memorySpool(),
      arrivalOf(event) {
        if (event.sequenceNumber === 2) readings += 1;
        if (readings > 1) throw new Error('cannot be looked at');
        return arrivalOf(event);
      },
    });
    await partition.admit(events('a1 a2'));
    await end(1);
    await partition.drain(0);
    expect([started, failures, positions(checkpoints)]).toEqual([[1], ['event passed over'], [2]]);
    expect(budget.inFlight()).toEqual({ messages: 0, bytes: 0 });
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

  it('with a spool that cannot be written has the effect of a full spool: the partition waits, and nothing is lost', async () => {
    const put = () => {
      throw new Error('disk full');
    };
    const { partition, started, failures, budget, end } = partitionByHand({
      ...oneInMemory,
      spool: { ...memorySpool(), put },
    });
    void partition.admit(events('a1 a2 b3'));
    await vi.advanceTimersByTimeAsync(0);
    expect([started, failures]).toEqual([[1], ['spool cannot be written']]);
    await end(1);
    expect(started).toEqual([1, 2, 3]);
    expect(budget.inFlight().messages).toBe(2); // the one that waited in the hub is charged as well
  });

  it('with a spool that cannot be read releases the partition, so that it is read again from its checkpoint', async () => {
    const take = () => Promise.reject(new Error('disk gone'));
    const { partition, started, checkpoints, failures, end, givenUp } = partitionByHand({
      ...oneInMemory,
      spool: { ...memorySpool(), take },
    });
    await partition.admit(events('t0 a1 a2 b3'));
    await end(1);
    await end(3);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([started, givenUp()]).toEqual([[1, 3], 1]);
    expect(failures).toEqual(['spool cannot be read: reading the partition again from its checkpoint']);
    expect(positions(checkpoints)).toEqual([]);
  });

  it('in the spool is not reported when the partition is lost', async () => {
    let fail = (_: Error) => {};
    const take = () => new Promise<never>((_, reject) => (fail = reject));
    const spool = { ...memorySpool(), take };
    const { partition, failures, givenUp, end } = await partitionWith('a1 a2', { ...oneInMemory, spool });
    await end(1);
    partition.revoke();
    fail(new Error('closed'));
    await vi.advanceTimersByTimeAsync(0);
    expect([failures, givenUp()]).toEqual([[], 0]);
  });

  it('is not reported for a spool that is closed during a read', async () => {
    const { partition, spool, failures, end } = await partitionWith('a1 a2', oneInMemory);
    void end(1);
    const draining = partition.drain(0);
    spool.close();
    vi.useRealTimers();
    await draining;
    await new Promise((resolve) => setImmediate(resolve));
    expect(failures).toEqual([]);
  });
});
