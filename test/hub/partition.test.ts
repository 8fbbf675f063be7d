import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBudget } from '../../src/hub/budget.ts';
import { createPartition, type Position } from '../../src/hub/partition.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import { hubEvent } from '../support/events.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A partition whose messages end when the test says so. */
function setUp({ maxMessages = 10, everyMessages = 100, failCheckpoint = false } = {}) {
  const started: number[] = [];
  const checkpoints: number[] = [];
  const failures: unknown[] = [];
  const ends = new Map<number, (handled: boolean) => void>();
  const partition = createPartition({
    budget: createBudget({ maxMessages, maxBytes: 1_000_000 }),
    arrivalOf: (event) => {
      const device = event.properties?.['device'];
      return typeof device === 'string' ? { event, deviceId: device } : undefined;
    },
    dispatch: ({ event }) => {
      started.push(event.sequenceNumber);
      return new Promise((resolve) => ends.set(event.sequenceNumber, resolve));
    },
    async checkpoint({ sequenceNumber }: Position) {
      if (failCheckpoint) throw new Error('disk full');
      checkpoints.push(sequenceNumber);
    },
    everyMessages,
    everyMs: 5_000,
    onCheckpointFailure: (error) => failures.push(error),
  });
  const end = async (sequenceNumber: number, handled = true) => {
    ends.get(sequenceNumber)?.(handled);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { partition, started, checkpoints, failures, end };
}

/** `a1 t2 b3`: device a at sequence number 1, telemetry at 2, device b at 3. */
const events = (text: string): HubEvent[] =>
  text.split(' ').map((one) => {
    const sequenceNumber = Number(one.slice(1));
    const isOurs = one[0] !== 't';
    return hubEvent({ sequenceNumber, properties: isOurs ? { device: one[0] } : {} });
  });

describe('a partition', () => {
  it('start a1 a2 b3, finish b3: no checkpoint; finish a1, a2: the checkpoint is 3', async () => {
    const { partition, started, checkpoints, end } = setUp();
    await partition.admit(events('a1 a2 b3'));
    expect(started).toEqual([1, 3]);
    await end(3);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checkpoints).toEqual([]);
    await end(1);
    await end(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checkpoints).toEqual([3]);
  });

  it('writes a checkpoint after so many messages, without waiting for the clock', async () => {
    const { partition, checkpoints } = setUp({ everyMessages: 3 });
    await partition.admit(events('t1 t2 t3 t4'));
    await vi.advanceTimersByTimeAsync(0);
    expect(checkpoints).toEqual([3]);
  });

  it('takes no more than the budget allows; the rest stays in the hub', async () => {
    const { partition, started, end } = setUp({ maxMessages: 2 });
    let admitted = false;
    void partition.admit(events('a1 b2 c3')).then(() => {
      admitted = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect([started, admitted]).toEqual([[1, 2], false]);
    await end(2);
    expect([started, admitted]).toEqual([[1, 2, 3], true]);
  });

  it('never checkpoints a message that was not handled to its end', async () => {
    const { partition, checkpoints, end } = setUp();
    await partition.admit(events('t1 a2 t3'));
    await end(2, false);
    expect(await partition.drain(0)).toBe(1);
    expect(checkpoints).toEqual([1]);
  });

  it('draining waits for what is in work, writes the last checkpoint and takes nothing more', async () => {
    const { partition, started, checkpoints, end } = setUp({ maxMessages: 1 });
    const admitting = partition.admit(events('a1 b2'));
    const draining = partition.drain(25_000);
    await end(1);
    expect(await draining).toBe(0);
    await admitting;
    expect([started, checkpoints]).toEqual([[1], [1]]);
  });

  it('draining ends at its limit and says how much was left', async () => {
    const { partition, checkpoints } = setUp();
    await partition.admit(events('t1 a2 b3'));
    const draining = partition.drain(25_000);
    await vi.advanceTimersByTimeAsync(25_000);
    expect(await draining).toBe(2);
    expect(checkpoints).toEqual([1]);
  });

  it('writes no checkpoint after ownership is lost, though work goes on', async () => {
    const { partition, checkpoints, end } = setUp();
    await partition.admit(events('a1'));
    partition.abandon();
    await end(1);
    await partition.drain(1_000);
    expect(checkpoints).toEqual([]);
  });

  it('survives a store that fails, and tries again with the next progress', async () => {
    const { partition, failures } = setUp({ failCheckpoint: true, everyMessages: 1 });
    await partition.admit(events('t1'));
    await vi.advanceTimersByTimeAsync(0);
    await partition.admit(events('t2'));
    await vi.advanceTimersByTimeAsync(0);
    expect(failures).toHaveLength(2);
  });
});
