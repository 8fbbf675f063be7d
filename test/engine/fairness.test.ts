import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Budget, createBudget } from '../../src/engine/budget.ts';
import { createPartition, type Partition } from '../../src/engine/partition.ts';
import { hubEvent } from '../support/events.ts';
import { limits, receivedMessageOf, usual } from './support/partitions.ts';

// What one device or one partition can take from the others. Time is the test's own.

const handlingMs = 50;
const deadlineMs = 300_000;
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));

interface Given {
  overall: Budget;
  maxMessages: number;
  hung?: string;
}

function setUp({ overall, maxMessages, hung = '' }: Given) {
  const ended: string[] = [];
  const budget = createBudget({ maxMessages, maxBytes: 1e6 }, overall);
  let most = 0;
  const partition = createPartition({
    ...usual,
    budget,
    receivedMessageOf,
    async dispatch({ deviceId }) {
      most = Math.max(most, budget.inFlight().messages);
      await new Promise((resolve) => setTimeout(resolve, hung.includes(deviceId) ? deadlineMs : handlingMs));
      ended.push(deviceId);
      return true;
    },
    limits,
  });
  return { partition, ended, most: () => most };
}

let sequenceNumber = 0;
const messages = (...devices: string[]) =>
  devices.map((device) => {
    sequenceNumber += 1;
    return hubEvent({ sequenceNumber, properties: { device } });
  });
const flood = (device: string, count: number) => messages(...Array.from({ length: count }, () => device));
const admitAll = (partition: Partition, events: ReturnType<typeof messages>) => {
  let admitted = false;
  void partition.admit(events).then(() => (admitted = true));
  return () => admitted;
};
const generous = () => createBudget({ maxMessages: 1_000, maxBytes: 1e9 });

describe('other devices of the partition', () => {
  it('are not delayed by a device whose messages all hang until their deadlines', async () => {
    const { partition, ended } = setUp({ overall: generous(), maxMessages: 10, hung: 'h' });
    admitAll(partition, [...flood('h', 100), ...messages('a', 'b', 'a', 'c')]);
    await vi.advanceTimersByTimeAsync(3 * handlingMs);
    expect(ended.toSorted()).toEqual(['a', 'a', 'b', 'c']);
  });

  it('are not delayed by a device that floods', async () => {
    const { partition, ended } = setUp({ overall: generous(), maxMessages: 10 });
    admitAll(partition, [...flood('f', 2_000), ...messages('a', 'b', 'a', 'c')]);
    await vi.advanceTimersByTimeAsync(3 * handlingMs);
    expect(ended.filter((device) => device !== 'f').toSorted()).toEqual(['a', 'a', 'b', 'c']);
  });

  it('continue when the hung messages end, in order', async () => {
    const { partition, ended } = setUp({ overall: generous(), maxMessages: 2, hung: 'gh' });
    const admitted = admitAll(partition, messages('g', 'h', 'a', 'b'));
    await vi.advanceTimersByTimeAsync(deadlineMs - 1);
    expect([ended, admitted()]).toEqual([[], false]);
    await vi.advanceTimersByTimeAsync(2 * handlingMs);
    expect(ended).toEqual(['g', 'h', 'a', 'b']);
  });
});

describe('the budget', () => {
  const many = (count: number) => messages(...Array.from({ length: count }, (_, index) => `d${index}`));

  it('of a partition is never exceeded, and leaves room for other partitions', async () => {
    const overall = createBudget({ maxMessages: 12, maxBytes: 1e6 });
    const busy = setUp({ overall, maxMessages: 8, hung: 'd0d1d2d3d4d5d6d7d8d9' });
    const calm = setUp({ overall, maxMessages: 8 });
    admitAll(busy.partition, many(10));
    admitAll(calm.partition, messages('x', 'y', 'z'));
    await vi.advanceTimersByTimeAsync(2 * handlingMs);
    expect([busy.most(), busy.ended, calm.ended]).toEqual([8, [], ['x', 'y', 'z']]);
  });

  it('of all partitions together is never exceeded', async () => {
    const overall = createBudget({ maxMessages: 12, maxBytes: 1e6 });
    const [one, other] = [setUp({ overall, maxMessages: 8 }), setUp({ overall, maxMessages: 8 })];
    let most = 0;
    admitAll(one.partition, many(100));
    admitAll(other.partition, many(100));
    for (let elapsed = 0; elapsed < 200 && one.ended.length + other.ended.length < 200; elapsed += 1) {
      most = Math.max(most, overall.inFlight().messages);
      await vi.advanceTimersByTimeAsync(handlingMs);
    }
    expect([most, one.ended.length, other.ended.length]).toEqual([12, 100, 100]);
  });
});

it('large messages of many devices delay no small message, in memory or in the hub', async () => {
  const large = 100_000;
  const ended: string[] = [];
  const partition = createPartition({
    ...usual,
    budget: createBudget({ maxMessages: 100, maxBytes: 4 * large }),
    receivedMessageOf,
    costOf: ({ properties }) => (properties?.['device'] === String(properties?.['device']).toUpperCase() ? large : 100),
    async dispatch({ deviceId }) {
      await new Promise((resolve) => setTimeout(resolve, deviceId === deviceId.toUpperCase() ? 5_000 : handlingMs));
      ended.push(deviceId);
      return true;
    },
    limits,
  });
  admitAll(partition, messages(...'ABCDEFGHIJ', 'a', ...'KLMNOPQRST', 'b', 'c'));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ended).toEqual(['a', 'b', 'c']);
  await vi.advanceTimersByTimeAsync(5_000 * 7);
  expect(ended.slice(3)).toEqual([...'ABCDEFGHIJKLMNOPQRST']);
});
