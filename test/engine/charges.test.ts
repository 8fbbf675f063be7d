import { describe, expect, it, vi } from 'vitest';
import { createBudget } from '../../src/engine/budget.ts';
import type { Dependencies } from '../../src/engine/lanes.ts';
import { createBacklog } from '../../src/engine/rooms.ts';
import type { MessageContext } from '../../src/engine/work.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { events, fullBacklog, partitionByHand, partitionWith } from './support/partitions.ts';

withFakeTimers();

const none = { messages: 0, bytes: 0 };
const one = { messages: 1, bytes: 100 };

/** Two messages of 100 bytes each, in a budget with room for 1,000 bytes of what is being answered. */
async function two() {
  const budget = createBudget({ maxMessages: 4, maxBytes: 8_000 });
  const backlog = createBacklog({ maxMessages: 4, maxBytes: 2_000 });
  const { stays, end, partition } = await partitionWith('a1 b2', { budget, backlog, costOf: () => 100 });
  const charged = () => [budget.inFlight(), budget.answering.inFlight()];
  const waiting = backlog.taken;
  const atEnd = async () => {
    await end(1);
    await end(2);
    return charged();
  };
  return { stays: stays as [MessageContext, MessageContext], partition, budget, backlog, charged, waiting, end, atEnd };
}

describe('the charge of a message', () => {
  it('is its memory, and zero when it has ended', async () => {
    const { stays, charged, atEnd } = await two();
    expect(charged()).toEqual([{ messages: 2, bytes: 200 }, none]);
    stays[0].charge.shrink(40);
    expect(charged()).toEqual([{ messages: 2, bytes: 160 }, none]);
    expect(await atEnd()).toEqual([none, none]);
  });

  it('moves to the side budget once while it waits for a backend, and is released there', async () => {
    const { stays, charged, atEnd } = await two();
    stays[0].charge.aside();
    stays[0].charge.aside();
    expect(charged()).toEqual([one, one]);
    stays[0].charge.shrink(40);
    expect(charged()[1]).toEqual({ messages: 1, bytes: 60 });
    expect(await atEnd()).toEqual([none, none]);
  });

  it('moves to the budget of replies when only they are left, with their memory, whether the message had waited or not', async () => {
    const { stays, charged, atEnd } = await two();
    stays[0].charge.aside();
    stays[0].charge.aside(130);
    stays[1].charge.aside(50);
    expect(charged()).toEqual([none, { messages: 2, bytes: 180 }]);
    expect(await atEnd()).toEqual([none, none]);
  });

  it('stays in its budget when there is no room for its replies, with their memory', async () => {
    const { stays, charged, atEnd } = await two();
    stays[0].charge.aside();
    stays[1].charge.aside(901);
    expect(charged()).toEqual([{ messages: 1, bytes: 901 }, one]);
    stays[1].charge.aside(900);
    stays[0].charge.aside(101);
    expect(charged()).toEqual([none, { messages: 2, bytes: 1_001 }]);
    expect(await atEnd()).toEqual([none, none]);
  });

  it('is what is left of it among those that wait while the store of dead letters is out, and is released there', async () => {
    const { stays, charged, waiting, atEnd } = await two();
    stays[0].charge.aside(30);
    for (const stay of stays) for (let attempt = 0; attempt < 2; attempt += 1) stay.charge.parks(40);
    stays[0].charge.shrink(10); // of its answers: it is charged with its event alone
    expect([charged(), waiting()]).toEqual([[none, none], { messages: 2, bytes: 80 }]);
    expect([await atEnd(), waiting()]).toEqual([[none, none], none]);
  });

  it('stays where it is when there is no room among those that wait, and moves when there is', async () => {
    const { stays, backlog, charged, atEnd } = await two();
    const others = backlog.ofPartition(() => {});
    others.enter(1_961, []);
    stays[0].charge.parks(40);
    expect(charged()).toEqual([{ messages: 2, bytes: 200 }, none]);
    others.give(1_961);
    stays[0].charge.parks(40);
    expect(charged()).toEqual([one, none]);
    expect([await atEnd(), backlog.taken()]).toEqual([[none, none], none]);
  });

  it('is released once when the partition drains meanwhile, and does not move any more', async () => {
    const { stays, partition, charged, waiting, atEnd } = await two();
    stays[0].charge.parks(40);
    const drained = partition.drain(1_000);
    stays[1].charge.parks(40);
    expect([charged(), waiting()]).toEqual([[one, none], none]);
    await atEnd();
    await drained;
    expect([charged(), waiting()]).toEqual([[none, none], none]);
  });

  it('has room for answers until the message ends, which others wait for', async () => {
    const { budget, stays, end } = await two();
    expect(stays[0].charge.takeForAnswers(9_000)).toBe(undefined);
    const other = stays[1].charge.takeForAnswers(9_000);
    stays[0].charge.shrink(5_000);
    expect(budget.answers.inFlight().bytes).toBe(4_000);
    await end(1);
    expect([await other, budget.answers.inFlight().bytes]).toEqual([true, 9_000]);
    await end(2);
    expect(budget.answers.inFlight()).toEqual(none);
  });

  it('keeps as much of that room as it says when only its replies are left; without such room, they are charged with it', async () => {
    const { budget, charged, stays, atEnd } = await two();
    void stays[0].charge.takeForAnswers(9_000);
    for (const { charge } of stays) charge.aside(20, 70);
    expect([charged()[1], budget.answers.inFlight().bytes]).toEqual([{ messages: 2, bytes: 110 }, 70]);
    for (const { charge } of stays) charge.shrink(60);
    expect([charged()[1], budget.answers.inFlight().bytes]).toEqual([{ messages: 2, bytes: 50 }, 10]);
    expect([await atEnd(), budget.answers.inFlight()]).toEqual([[none, none], none]);
  });

  it('takes its room for answers with it when only replies to full queues are left', async () => {
    const { budget, stays, atEnd } = await two();
    void stays[0].charge.takeForAnswers(9_000);
    const before = budget.sleeping.taken().bytes;
    stays[0].charge.sleeps(() => {});
    expect(budget.answers.inFlight()).toEqual(none);
    expect(budget.sleeping.taken().bytes - before).toBeGreaterThanOrEqual(9_100);
    await atEnd();
    expect(budget.sleeping.taken()).toEqual(none);
  });

  it.each(['over', 'answered'])('has no room for answers that comes when the message is %s', async (when) => {
    const { budget, stays, end } = await two();
    void stays[0].charge.takeForAnswers(9_000);
    void stays[1].charge.takeForAnswers(9_000);
    if (when === 'over') await end(2);
    else stays[1].charge.aside(10);
    await end(1);
    expect(budget.answers.inFlight()).toEqual(none);
    await end(2);
  });
});

// A message whose backend is out waits in the hub when there is no room for it elsewhere (D27).

function setUp() {
  let isUp = false;
  const watchers: (() => void)[] = [];
  let watched = 0;
  const outage: Dependencies = {
    areAvailable: () => isUp,
    met() {
      watched += 1;
      return new Promise((resolve) => watchers.push(() => resolve(true)));
    },
  };
  const none: Dependencies = { areAvailable: () => true, met: async () => true };
  const { partition, started, end } = partitionByHand({
    backlog: fullBacklog(),
    dependenciesOf: ({ deviceId }) => (deviceId === 'a' ? outage : none),
  });
  return {
    partition,
    started,
    end,
    watched: () => watched,
    /** Says that the backend is back. @param stays it is not out again by the time that somebody looks */
    async back(stays: boolean) {
      isUp = stays;
      for (const tell of watchers.splice(0)) tell();
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

it('a message that waits in the hub begins when its backend is back, even if it was back briefly before', async () => {
  const { partition, started, back } = setUp();
  void partition.admit(events('a1'));
  await vi.advanceTimersByTimeAsync(0);
  await back(false);
  expect(started).toEqual([]);
  await back(true);
  expect(started).toEqual([1]);
});

it('a message that waits in the hub asks once for its backend, even if other messages end meanwhile', async () => {
  const { partition, started, end, watched } = setUp();
  void partition.admit(events('b1 c2 d3 a4'));
  await vi.advanceTimersByTimeAsync(0);
  for (const ended of [1, 2, 3]) await end(ended);
  expect([started, watched()]).toEqual([[1, 2, 3], 1]);
});

it('a large message that finds no room to wait takes its place in the budget, and begins as soon as others have ended', async () => {
  const large = 20_000;
  const overall = createBudget({ maxMessages: 10, maxBytes: 2 * large });
  const busy = await partitionWith('a1', {
    budget: createBudget({ maxMessages: 10, maxBytes: 1e6 }, overall),
    costOf: () => large,
  });
  const { partition, started } = partitionByHand({
    backlog: fullBacklog(),
    budget: createBudget({ maxMessages: 10, maxBytes: 1e6 }, overall),
    costOf: () => large,
  });
  void partition.admit(events('b1'));
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toEqual([]);
  await busy.end(1);
  expect(started).toEqual([1]);
});
