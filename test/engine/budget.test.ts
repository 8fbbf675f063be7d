import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type Budget, createBudget } from '../../src/engine/budget.ts';
import type { Line } from '../../src/engine/rooms.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const none = { messages: 0, bytes: 0 };
const taken = (line: Line, bytes: number) => line.hasRoom(bytes) && line.take(bytes) === undefined;

function within(limits: Parameters<typeof createBudget>[0]) {
  const overall = createBudget(limits);
  return [overall, createBudget(limits, overall), createBudget(limits, overall)] as const;
}

it('messages are admitted at once while there is room, and then in order of arrival', async () => {
  const budget = createBudget({ maxMessages: 2, maxBytes: 100 });
  expect([budget.all.take(10), budget.all.take(10)]).toEqual([undefined, undefined]);
  const admitted: string[] = [];
  void budget.all.take(1)?.then(() => admitted.push('third'));
  void budget.all.take(1)?.then(() => admitted.push('fourth'));
  await settle();
  expect(admitted).toEqual([]);
  budget.all.give(10);
  await settle();
  expect(admitted).toEqual(['third']);
  budget.all.give(10);
  await settle();
  expect([admitted, budget.inFlight()]).toEqual([['third', 'fourth'], { messages: 2, bytes: 2 }]);
});

it('bytes are counted as well as messages', async () => {
  const budget = createBudget({ maxMessages: 10, maxBytes: 100 });
  expect(budget.all.take(60)).toBeUndefined();
  const waiting = budget.all.take(60);
  expect(waiting).toBeInstanceOf(Promise);
  budget.all.give(60);
  await waiting;
  expect([budget.inFlight(), budget.all.take(40)]).toEqual([{ messages: 1, bytes: 60 }, undefined]);
});

it('one message larger than the whole budget is admitted when no other is in progress', () =>
  expect(createBudget({ maxMessages: 10, maxBytes: 100 }).all.take(500)).toBeUndefined());

it('the unused part of a reservation is released in the overall budget as well, and an ended message releases the rest', async () => {
  const [overall, one, other] = within({ maxMessages: 10, maxBytes: 100 });
  expect(one.all.take(100)).toBeUndefined();
  const waiting = other.all.take(50);
  one.all.shrink(90);
  expect([await waiting, [one, other, overall].map((budget) => budget.inFlight().bytes)]).toEqual([true, [10, 50, 60]]);
  one.all.give(10);
  other.all.give(50);
  expect([one, other, overall].map((budget) => budget.inFlight())).toEqual([none, none, none]);
});

describe('messages that wait for room', () => {
  it('can leave the queue, and then nothing is charged, here or overall', async () => {
    const [overall, one, other] = within({ maxMessages: 1, maxBytes: 100 });
    const signal = new AbortController();
    expect(one.all.take(1)).toBeUndefined();
    const inOwnLine = one.all.take(1, signal.signal);
    const inOverall = other.all.take(1, signal.signal);
    signal.abort();
    expect(await Promise.all([inOwnLine, inOverall, one.all.take(1, signal.signal)])).toEqual([false, false, false]);
    expect(other.inFlight()).toEqual({ messages: 0, bytes: 0 });
    one.all.give(1);
    expect([one, overall].map((budget) => budget.inFlight().messages)).toEqual([0, 0]);
    expect(other.all.take(1)).toBeUndefined();
  });

  it('unblock those behind them when they leave', async () => {
    const budget = createBudget({ maxMessages: 10, maxBytes: 100 });
    const signal = new AbortController();
    expect(budget.all.take(60)).toBeUndefined();
    const large = budget.all.take(60, signal.signal);
    const small = budget.all.take(10);
    signal.abort();
    expect(await Promise.all([large, small])).toEqual([false, true]);
  });

  it('are out of the queue once admitted: their end does not change the order of the others', async () => {
    const budget = createBudget({ maxMessages: 1, maxBytes: 100 });
    const signal = new AbortController();
    expect(budget.all.take(1)).toBeUndefined();
    const first = budget.all.take(1, signal.signal);
    let isSecondAdmitted = false;
    void budget.all.take(1)?.then((isAdmitted) => (isSecondAdmitted = isAdmitted));
    budget.all.give(1);
    expect(await first).toBe(true);
    signal.abort();
    budget.all.give(1);
    await settle();
    expect(isSecondAdmitted).toBe(true);
  });

  it('add one listener to their common signal, and all of them leave', async () => {
    const budget = createBudget({ maxMessages: 1, maxBytes: 100 });
    const signal = new AbortController();
    expect(budget.all.take(1)).toBeUndefined();
    const waiting = [1, 2, 3].map(() => budget.all.take(1, signal.signal));
    expect(getEventListeners(signal.signal, 'abort')).toHaveLength(1);
    signal.abort();
    expect([await Promise.all(waiting), budget.inFlight().messages]).toEqual([[false, false, false], 1]);
  });

  it('keep their room if they are admitted at the moment in which they would leave', async () => {
    const budget = createBudget({ maxMessages: 1, maxBytes: 100 });
    const signal = new AbortController();
    expect(budget.all.take(1)).toBeUndefined();
    const taking = budget.all.take(1, signal.signal);
    budget.all.give(1);
    signal.abort();
    expect([await taking, budget.inFlight().messages]).toEqual([true, 1]);
  });
});

describe('large messages', () => {
  const large = 16 * 1024 + 1;
  const limits = { maxMessages: 100, maxBytes: 4 * large };
  const takenBy = (budget: Budget, bytes: number) => {
    const taken: { isTaken: boolean } = { isTaken: false };
    const taking = budget.of(bytes).take(bytes);
    if (taking === undefined) taken.isTaken = true;
    else void taking.then((isTaken) => Object.assign(taken, { isTaken }));
    return taken;
  };

  it('take three quarters of the bytes at most, and let small ones pass while they wait for more', async () => {
    const overall = createBudget(limits);
    const budget = createBudget(limits, overall);
    expect(budget.of(large).hasRoom(large)).toBe(true);
    const all = [1, 2, 3, 4].map(() => takenBy(budget, large));
    await settle();
    expect(all.map(({ isTaken }) => isTaken)).toEqual([true, true, true, false]);
    expect(budget.of(large).hasRoom(large)).toBe(false);
    const small = takenBy(budget, large - 1);
    expect([small.isTaken, overall.inFlight()]).toEqual([true, { messages: 4, bytes: 4 * large - 1 }]);
    budget.of(large).give(large);
    await settle();
    expect(all.at(-1)?.isTaken).toBe(true);
  });

  it('are counted over all partitions', async () => {
    const [overall, one, other] = within(limits);
    const all = [one, other, one, other].map((budget) => takenBy(budget, large));
    await settle();
    expect(all.map(({ isTaken }) => isTaken)).toEqual([true, true, true, false]);
    expect(other.of(large).hasRoom(large)).toBe(false);
    one.of(large).shrink(large);
    await settle();
    expect([all.at(-1)?.isTaken, overall.large.inFlight()]).toEqual([true, { messages: 4, bytes: 3 * large }]);
  });

  it('are not passed by small ones when they are first in the queue and wait for bytes of small ones', async () => {
    const budget = createBudget(limits);
    for (let taken = 0; taken < 4; taken += 1) expect(budget.of(large - 2).take(large - 2)).toBeUndefined();
    const waiting = takenBy(budget, large);
    const after = takenBy(budget, 8);
    await settle();
    expect([waiting.isTaken, after.isTaken, budget.of(8).hasRoom(8)]).toEqual([false, false, false]);
    budget.of(large - 2).give(large - 2);
    await settle();
    expect([waiting.isTaken, after.isTaken]).toEqual([true, false]);
    expect(budget.large.inFlight()).toEqual({ messages: 1, bytes: large });
    budget.of(large - 2).give(large - 2);
    await settle();
    expect([waiting.isTaken, after.isTaken]).toEqual([true, true]);
  });

  it('wait for no more small ones than may be in flight, however many arrive', async () => {
    const budget = createBudget(limits);
    const begun: string[] = [];
    const inFlight: number[] = [];
    function come(name: string, bytes: number) {
      const begin = () => {
        begun.push(name);
        inFlight.push(bytes);
      };
      const taking = budget.of(bytes).take(bytes);
      if (taking === undefined) begin();
      else void taking.then(begin);
    }
    const names = [1, 2, 3, 4, 5, 6].map((number) => `large ${number}`);
    for (let small = 0; small < 4; small += 1) come('small', large - 2);
    for (const name of names) come(name, large);
    for (let round = 0; round < 40; round += 1) {
      come('small', large - 2);
      const bytes = inFlight.shift() ?? 0;
      budget.of(bytes).give(bytes);
      await settle();
    }
    expect(begun.filter((name) => name !== 'small')).toEqual(names);
    const smallBefore = begun.indexOf('large 6') + 1 - names.length;
    expect(smallBefore).toBeLessThanOrEqual(4 * names.length);
  });

  it('leave no charge behind when they end or leave either queue', async () => {
    const overall = createBudget(limits);
    const budget = createBudget(limits, overall);
    const leaving = new AbortController();
    for (let taken = 0; taken < 3; taken += 1) expect(budget.of(large).take(large)).toBeUndefined();
    const first = budget.of(large).take(large, leaving.signal);
    leaving.abort();
    expect(await first).toBe(false);
    for (let taken = 0; taken < 3; taken += 1) budget.of(large).give(large);
    for (let taken = 0; taken < 4; taken += 1) expect(budget.all.take(large - 2)).toBeUndefined();
    const again = new AbortController();
    const second = budget.of(large).take(large, again.signal);
    await settle();
    expect(budget.large.inFlight().messages).toBe(1);
    again.abort();
    expect(await second).toBe(false);
    for (let taken = 0; taken < 4; taken += 1) budget.all.give(large - 2);
    for (const one of [budget, overall, budget.large, overall.large]) expect(one.inFlight()).toEqual(none);
  });
});

describe('the room for messages that are being answered', () => {
  const limits = { maxMessages: 2, maxBytes: 800 };

  it('is for as many messages as may be in progress, and for an eighth of the bytes', () => {
    const { answering } = createBudget(limits);
    expect([60, 41, 40, 0].map((bytes) => taken(answering, bytes))).toEqual([true, false, true, false]);
    answering.give(60);
    expect([taken(answering, 60), answering.inFlight()]).toEqual([true, { messages: 2, bytes: 100 }]);
  });

  it('admits one larger message when it is empty', () =>
    expect(taken(createBudget(limits).answering, 10_000)).toBe(true));

  it('charges no message without overall room, and releases overall room as well, also without its message', () => {
    const [overall, one, other] = within(limits);
    expect([taken(one.answering, 60), taken(other.answering, 41), taken(other.answering, 40)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(other.answering.inFlight()).toEqual({ messages: 1, bytes: 40 });
    one.answering.give(20, 0);
    expect([one, overall].map(({ answering }) => answering.inFlight())).toEqual([
      { messages: 1, bytes: 40 },
      { messages: 2, bytes: 80 },
    ]);
    one.answering.give(40);
    other.answering.give(40);
    expect([one, other, overall].map(({ answering }) => answering.inFlight())).toEqual([none, none, none]);
  });
});
