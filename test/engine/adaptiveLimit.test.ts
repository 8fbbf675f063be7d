import { describe, expect, it, vi } from 'vitest';
import { createAdaptiveLimit, createBudget } from '../../src/engine/budget.ts';
import { withFakeTimers } from '../support/waiting.ts';

// How many messages may be in flight follows the event loop (D163).

withFakeTimers();

/** @param busy share of each window in which the event loop is busy */
function setUp(busy: { share: number }, { least = 4, most = 20, inLine = (): number => 0 } = {}) {
  const adaptiveLimit = createAdaptiveLimit({ least, most, inLine, measure: () => () => busy.share });
  const budget = createBudget({ maxMessages: most, maxBytes: 1e6 }, undefined, adaptiveLimit);
  let begun = 0;
  const want = (messages: number) => {
    for (let n = 0; n < messages; n += 1) {
      const taking = budget.all.take(1);
      if (taking === undefined) begun += 1;
      else void taking.then(() => (begun += 1));
    }
  };
  return { adaptiveLimit, budget, want, begun: () => begun };
}

const windows = (count: number) => vi.advanceTimersByTimeAsync(count * 100);

describe('messages in flight', () => {
  it('are few while they keep the event loop busy', async () => {
    const { want, begun } = setUp({ share: 1 });
    want(30);
    await windows(50);
    expect(begun()).toBe(4);
  });

  it('become more, up to the limit, while the event loop has time to spare', async () => {
    const { want, begun } = setUp({ share: 0.5 });
    want(30);
    expect(begun()).toBe(4);
    await windows(1);
    expect(begun()).toBe(6);
    await windows(1);
    expect(begun()).toBe(9);
    await windows(10);
    expect(begun()).toBe(20);
  });

  it.each([0.95, 0.97, 0.98])('keep their number between the two bounds, both included: %d', async (share) => {
    const busy = { share: 0.5 };
    const { want, adaptiveLimit } = setUp(busy);
    want(30);
    await windows(2);
    busy.share = share;
    await windows(50);
    expect(adaptiveLimit.messages()).toBe(9);
  });

  it('keep their number while more than half of them wait for connections to backends', async () => {
    const line = { length: 3 };
    const { want, begun } = setUp({ share: 0.5 }, { inLine: () => line.length });
    want(30);
    await windows(50);
    expect(begun()).toBe(4);
    line.length = 2; // a half
    await windows(1);
    expect(begun()).toBe(6);
  });

  it('become fewer when they keep the event loop busy, but never fewer than the minimum', async () => {
    const busy = { share: 0 };
    const { adaptiveLimit, budget, want, begun } = setUp(busy);
    want(60);
    await windows(10);
    expect([adaptiveLimit.messages(), begun()]).toEqual([20, 20]);
    busy.share = 1;
    await windows(1);
    expect(adaptiveLimit.messages()).toBe(18);
    budget.all.give(1);
    await windows(0);
    expect(begun()).toBe(20); // nobody takes the place: there are 19 in flight, and 18 may be
    await windows(50);
    expect(adaptiveLimit.messages()).toBe(4);
  });

  it('keep their number when one ends, or needs less memory, while no other waits', async () => {
    const { adaptiveLimit, budget, want } = setUp({ share: 0 });
    want(4);
    budget.all.shrink(0);
    budget.all.give(1);
    await windows(50);
    expect([adaptiveLimit.messages(), vi.getTimerCount()]).toEqual([4, 0]);
  });

  it('keep their number while one waits for bytes, since more messages would not help it', async () => {
    const { adaptiveLimit, budget } = setUp({ share: 0 });
    expect(budget.all.take(900_000)).toBeUndefined();
    expect(budget.all.take(200_000)).toBeInstanceOf(Promise);
    budget.all.shrink(1);
    await windows(50);
    expect([adaptiveLimit.messages(), vi.getTimerCount()]).toEqual([4, 0]);
  });

  it('never exceed a limit below the minimum', async () => {
    const { want, begun } = setUp({ share: 1 }, { least: 48, most: 2 });
    want(5);
    await windows(5);
    expect(begun()).toBe(2);
  });
});

it('the pace is measured on the event loop of the process', async () => {
  vi.useRealTimers();
  const adaptiveLimit = createAdaptiveLimit({ least: 2, most: 10, inLine: () => 0 });
  await new Promise<void>((resolve) => adaptiveLimit.reached(resolve));
  expect(adaptiveLimit.messages()).toBe(3); // it had nothing to do
});
