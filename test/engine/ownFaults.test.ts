import { describe, expect, it, vi } from 'vitest';
import type { HubEvent } from '../../src/protocol/event.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { events, partitionByHand, positions, receivedMessageOf } from './support/partitions.ts';

withFakeTimers();

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
