import { describe, expect, it } from 'vitest';
import { type Budget, createBudget } from '../../src/engine/budget.ts';
import { createBacklog, createSleeping, sleeperBytes } from '../../src/engine/rooms.ts';
import type { MessageContext } from '../../src/engine/work.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { events, limits, partitionByHand, partitionWith, positions } from './support/partitions.ts';

withFakeTimers();

const none = { messages: 0, bytes: 0 };
const eachMessage = { limits: { ...limits, everyMessages: 1 } };
const never = () => {};

describe('the room of messages that sleep (C4)', () => {
  /** Adds messages that sleep, in a room for three of 10 bytes. Names those that are given up. */
  function setUp() {
    const room = createSleeping(30);
    const givenUp: string[] = [];
    const followed: string[] = [];
    const add = (name: string, bytes = 10) => {
      const one = room.add(bytes - sleeperBytes, () => followed.includes(name));
      const sleeps = () => one.sleeps(() => givenUp.push(name));
      sleeps();
      return { ...one, sleeps };
    };
    return { room, add, givenUp, followed };
  }

  it('gives up those that have slept longest when there are too many bytes', () => {
    const { room, add, givenUp } = setUp();
    for (const name of 'abc') add(name);
    expect(givenUp).toEqual([]);
    add('d', 11);
    expect([givenUp, room.taken()]).toEqual([['a', 'b'], { messages: 2, bytes: 21 }]);
  });

  it('gives up none that is being tried, and all are charged from when they first slept', () => {
    const { room, add, givenUp } = setUp();
    const [a, b] = [add('a'), add('b'), add('c')];
    a.wakes();
    b.wakes();
    b.sleeps();
    add('d');
    expect([givenUp, room.taken()]).toEqual([['b'], { messages: 3, bytes: 30 }]);
    a.sleeps();
    add('e');
    expect(givenUp).toEqual(['b', 'a']);
  });

  it('has room for one alone, however large it is', () => {
    const { room, add, givenUp } = setUp();
    add('a', 31);
    expect([givenUp, room.taken()]).toEqual([[], { messages: 1, bytes: 31 }]);
    add('b');
    expect([givenUp, room.taken()]).toEqual([['a'], { messages: 1, bytes: 10 }]);
  });

  it('makes room for what must wait by giving up the one that has slept longest of those with messages behind them', () => {
    const { room, add, givenUp, followed } = setUp();
    followed.push('b', 'c');
    const [, b] = [add('a'), add('b'), add('c')];
    b.wakes();
    room.makeRoom();
    expect([givenUp, room.taken().messages]).toEqual([['c'], 2]);
    room.makeRoom();
    expect(givenUp).toEqual(['c']);
  });

  it('charges each once, whatever becomes of it', () => {
    const { room, add } = setUp();
    const a = add('a');
    a.sleeps();
    a.shrink(4);
    expect(room.taken()).toEqual({ messages: 1, bytes: 6 });
    add('b', 25); // a is given up
    a.shrink(1);
    a.give();
    expect(room.taken()).toEqual({ messages: 1, bytes: 25 });
    a.sleeps();
    expect(room.taken()).toEqual({ messages: 2, bytes: 30 });
    a.give();
    a.give();
    expect(room.taken()).toEqual({ messages: 1, bytes: 25 });
  });
});

/** What sleeps, without what each is charged with beside its event and its replies. */
function ownBytes({ sleeping }: Pick<Budget, 'sleeping'>) {
  const { messages, bytes } = sleeping.taken();
  return { messages, bytes: bytes - messages * sleeperBytes };
}

describe('a message that sleeps', () => {
  /** Of 100 bytes each, in a budget for two. */
  async function messages(text: string, budget = createBudget({ maxMessages: 2, maxBytes: 8_000 })) {
    const given = { ...eachMessage, budget, costOf: () => 100 };
    const { partition, started, checkpoints, stays, end } = partitionByHand(given);
    void partition.admit(events(text));
    await end(-1);
    const charged = () => [budget.inFlight(), budget.answering.inFlight(), ownBytes(budget)];
    return { partition, started, checkpoints, end, stays: stays as [MessageContext, MessageContext], charged };
  }

  it('gives back its place in flight, or among those being answered, whatever the number of such messages', async () => {
    const { stays, started, charged, end } = await messages('a1 b2 c3 d4 e5');
    expect(started).toEqual([1, 2]);
    stays[0].charge.sleeps(never);
    stays[1].charge.aside(130);
    stays[1].charge.sleeps(never);
    await end(-1);
    expect(started).toEqual([1, 2, 3, 4]);
    expect(charged()).toEqual([{ messages: 2, bytes: 200 }, none, { messages: 2, bytes: 230 }]);
    for (const one of stays) one.charge.sleeps(never);
    await end(-1);
    expect(started).toEqual([1, 2, 3, 4, 5]);
    for (const number of started) await end(number);
    expect(charged()).toEqual([none, none, none]);
  });

  it('takes a place among those being answered again when there is one, and waits for none', async () => {
    const budget = createBudget({ maxMessages: 2, maxBytes: 1_600 }); // 200 bytes of answers
    const { stays, charged, end } = await messages('a1 b2', budget);
    stays[0].charge.sleeps(never);
    stays[0].charge.wakes();
    stays[0].charge.shrink(40);
    stays[1].charge.aside(150);
    stays[0].charge.aside();
    expect(charged()).toEqual([none, { messages: 1, bytes: 150 }, { messages: 1, bytes: 60 }]);
    await end(2);
    stays[0].charge.aside();
    expect(charged()).toEqual([none, { messages: 1, bytes: 60 }, none]);
    stays[0].charge.sleeps(never);
    expect(charged()).toEqual([none, none, { messages: 1, bytes: 60 }]);
    await end(1);
    expect(charged()).toEqual([none, none, none]);
  });

  it('is charged to one room of the process, whose oldest is given up in whatever partition', async () => {
    const overall = createBudget({ maxMessages: 4, maxBytes: 8_000, sleepingBytes: 2 * sleeperBytes + 250 });
    const givenUp: string[] = [];
    for (const name of ['one', 'other']) {
      const budget = createBudget({ maxMessages: 2, maxBytes: 8_000 }, overall);
      const { stays } = await messages('a1 b2', budget);
      for (const [index, stay] of stays.entries()) stay.charge.sleeps(() => givenUp.push(`${name} ${index}`));
    }
    expect([givenUp, ownBytes(overall)]).toEqual([['one 0', 'one 1'], { messages: 2, bytes: 200 }]);
  });

  it('is given up when messages behind it leave no room for others, and the partition goes on (B5)', async () => {
    const backlog = createBacklog({ maxMessages: 4, maxBytes: 1e6 });
    const { partition, started, stays, end } = partitionByHand({ ...eachMessage, backlog });
    const admitted = partition.admit(events('a1 a2 a3 b4'));
    await end(-1);
    const givenUp: number[] = [];
    stays[0]?.charge.sleeps(() => givenUp.push(1));
    void partition.admit(events('a5 c6'));
    await admitted;
    await end(4);
    expect([started, givenUp]).toEqual([[1, 4], [1]]);
    await end(1);
    expect(started.toSorted()).toEqual([1, 2, 4, 6]);
    partition.revoke();
  });

  it('holds its lane and the checkpoint', async () => {
    const { stays, started, checkpoints, end, partition } = await messages('a1 a2 b3');
    stays[0].charge.sleeps(never);
    await end(3);
    expect([started, checkpoints, partition.contents()]).toMatchObject([[1, 3], [], { inFlight: 1, sleeping: 1 }]);
    await end(1);
    expect([started, positions(checkpoints)]).toEqual([[1, 3, 2], [1]]);
  });

  it('is not waited for by a stop, and left for the next reader', async () => {
    const { partition, stays, checkpoints, end } = await messages('a1 b2');
    stays[0].charge.sleeps(never);
    const draining = partition.drain(25_000);
    await end(-1);
    expect(stays[0].ended.aborted).toBe(false);
    stays[1].charge.sleeps(never);
    await end(-1);
    expect(stays[0].ended.aborted).toBe(true);
    await end(1, false);
    await end(2, false);
    expect([await draining, checkpoints]).toEqual([2, []]);
  });

  it('is waited for by a stop while it is being tried', async () => {
    const { partition, stays, checkpoints, end } = await messages('a1');
    stays[0].charge.sleeps(never);
    stays[0].charge.wakes();
    const draining = partition.drain(25_000);
    await end(-1);
    expect(stays[0].ended.aborted).toBe(false);
    await end(1);
    expect([await draining, positions(checkpoints)]).toEqual([0, [1]]);
  });
});

describe('a message of which only replies to other devices are left (A12)', () => {
  it('lets the next one of its device begin, and both are recorded as done in order', async () => {
    const { stays, started, checkpoints, end, partition } = await partitionWith('a1 a2 a3 b4', eachMessage);
    const [first] = stays as [MessageContext];
    first.nextMayBegin();
    await end(-1);
    await end(2);
    await end(3);
    await end(4);
    expect(started).toEqual([1, 4, 2, 3]);
    const { inFlight, sleeping, waiting } = partition.contents();
    expect([positions(checkpoints), inFlight, sleeping, waiting]).toEqual([[], 3, 2, 0]);
    await end(1);
    expect([positions(checkpoints).at(-1), partition.pending()]).toEqual([4, 0]);
    await partition.admit(events('a5'));
    await end(5);
    expect(positions(checkpoints).at(-1)).toBe(5);
  });

  it('lets no more begin when those that wait to be recorded have no room', async () => {
    const budget = createBudget({ maxMessages: 10, maxBytes: 1e6, sleepingBytes: 2 * (sleeperBytes + 100) });
    const given = { ...eachMessage, budget, costOf: () => 100 };
    const { stays, started, checkpoints, end, partition } = await partitionWith('a1 a2 a3 a4 a5 b6', given);
    stays[0]?.nextMayBegin();
    await end(-1);
    for (const number of [2, 3, 4, 6]) await end(number);
    expect(started).toEqual([1, 6, 2, 3, 4]);
    expect(budget.sleeping.taken().bytes).toBe(3 * (sleeperBytes + 100));
    await end(1);
    await end(5);
    expect(started).toEqual([1, 6, 2, 3, 4, 5]);
    expect([positions(checkpoints).at(-1), partition.pending(), budget.sleeping.taken()]).toEqual([6, 0, none]);
  });

  it('that is left for the next reader leaves it those that came after, too: their effects would be undone by its repeat (G3)', async () => {
    const { stays, checkpoints, end, partition } = await partitionWith('a1 a2 b3', eachMessage);
    (stays[0] as MessageContext).nextMayBegin();
    stays[0]?.charge.sleeps(never);
    await end(-1);
    await end(2);
    await end(3);
    const draining = partition.drain(25_000);
    await end(1, false);
    expect([await draining, checkpoints]).toEqual([2, []]);
  });

  it('keeps its charge until they are settled', async () => {
    const budget = createBudget({ maxMessages: 2, maxBytes: 8_000 });
    const { stays, end } = await partitionWith('a1', { budget, costOf: () => 100 });
    stays[0]?.charge.aside(100);
    stays[0]?.nextMayBegin();
    expect(budget.answering.inFlight()).toEqual({ messages: 1, bytes: 100 });
    await end(1);
    expect(budget.answering.inFlight()).toEqual(none);
  });
});
