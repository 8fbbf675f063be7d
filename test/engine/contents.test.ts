import { describe, expect, it, vi } from 'vitest';
import { withFakeTimers } from '../support/waiting.ts';
import { events, partitionByHand, partitionWith } from './support/partitions.ts';

withFakeTimers();

describe('the partition state for operators', () => {
  it('is empty before the first message and after the last', async () => {
    const { partition, end } = partitionByHand();
    const empty = { inFlight: 0, sleeping: 0, waiting: 0, devices: 0, oldest: undefined, suspects: 0 };
    const state = { sequenceNumber: undefined, ageSeconds: 0, failures: 0, isFailing: false, unwritten: 0 };
    expect(partition.contents()).toEqual({ ...empty, checkpoint: state });
    await partition.admit(events('a1'));
    await end(1);
    await partition.drain(0);
    expect(partition.contents()).toEqual({ ...empty, checkpoint: { ...state, sequenceNumber: 1 } });
  });

  it('has the messages in flight, those that wait, and the number of their devices', async () => {
    const { partition } = await partitionWith('a1 a2 a3 b4');
    expect(partition.contents()).toMatchObject({ inFlight: 2, sleeping: 0, waiting: 2, devices: 2 });
  });

  it('has the oldest unfinished message of all devices', async () => {
    const { partition, end } = await partitionWith('b1');
    const readAt = performance.now();
    await vi.advanceTimersByTimeAsync(1_000);
    await partition.admit(events('a2 b3'));
    expect(partition.contents().oldest).toEqual({ device: 'b', sequenceNumber: 1, readAt });
    await end(1);
    expect(partition.contents().oldest).toEqual({ device: 'a', sequenceNumber: 2, readAt: readAt + 1_000 });
    await end(2);
    expect(partition.contents().oldest).toMatchObject({ device: 'b', sequenceNumber: 3 });
  });
});
