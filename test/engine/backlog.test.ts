import { describe, expect, it } from 'vitest';
import { createBacklog } from '../../src/engine/rooms.ts';

const limits = { maxMessages: 8, maxBytes: 8_000 };

/** A backlog and partitions that share it; `told` has those that were told of room. */
function setUp(partitions = 2) {
  const backlog = createBacklog(limits);
  const told: number[] = [];
  const views = Array.from({ length: partitions }, (_, index) => backlog.ofPartition(() => told.push(index)));
  return { backlog, told, views: views as [View, View, ...View[]] };
}
type View = ReturnType<ReturnType<typeof createBacklog>['ofPartition']>;

function fill({ hasRoom, enter }: View, bytes: number, backends: readonly string[] = []): number {
  let count = 0;
  for (; hasRoom(bytes, backends); count += 1) enter(bytes, backends);
  return count;
}

describe('the room of messages that wait', () => {
  it.each([
    ['messages', 1, 4],
    ['bytes', 2_000, 2],
  ])('of one partition is half of all by %s; all together have no more than all', (_, bytes, most) => {
    const { backlog, views } = setUp(3);
    expect(views.map((one) => fill(one, bytes))).toEqual([most, most, 0]);
    expect(backlog.taken()).toEqual({ messages: 2 * most, bytes: 2 * most * bytes });
  });

  it('takes one message of any size when nothing waits', () => {
    const { views } = setUp();
    expect(views.map((one) => fill(one, 100_000))).toEqual([1, 0]);
  });

  it('for one and the same backend is half of all, also in two partitions; others still have room', () => {
    const { views } = setUp();
    const [one, other] = views;
    one.enter(1, []);
    expect([fill(one, 1, ['im']), fill(other, 1, ['im', 'pm'])]).toEqual([3, 1]);
    expect([other.hasRoom(1, ['pm']), other.hasRoom(1, [])]).toEqual([true, true]);
  });

  it('for a backend counts messages that begin to wait for it later, and not those that do not wait for it any more', () => {
    const { views } = setUp();
    const [one, other] = views;
    expect(fill(one, 1)).toBe(4);
    one.hold({ messages: 4, bytes: 4 }, ['im']);
    expect([other.hasRoom(1, ['im']), other.hasRoom(1, [])]).toEqual([false, true]);
    one.release({ messages: 4, bytes: 4 }, ['im']);
    expect(other.hasRoom(1, ['im'])).toBe(true);
  });
});

it.each<[what: string, act: (one: View) => void]>([
  ['a message of another begins', (one) => one.give(1)],
  ['messages of another do not wait for the backend any more', (one) => one.release({ messages: 1, bytes: 1 }, ['im'])],
  ['another ends', (one) => one.close()],
])('a partition that found no room is told when %s, once, as those before it', (_, act) => {
  const { told, views } = setUp(4);
  const [one, ...others] = views;
  fill(one, 1, ['im']);
  for (const other of others.toReversed()) expect(other.hasRoom(1, ['im'])).toBe(false);
  expect(told).toEqual([]);
  act(one);
  expect(told).toEqual([0, 3, 2, 1]);
  one.close();
  expect(told).toEqual([0, 3, 2, 1]);
});

it('nothing of a partition waits after its end, whatever is still told of it', () => {
  const { backlog, views } = setUp(3);
  const [one, other, third] = views as [View, View, View];
  fill(one, 1, ['im']);
  one.close();
  one.release({ messages: 2, bytes: 2 }, ['im']);
  one.hold({ messages: 1, bytes: 1 }, ['pm']);
  expect(backlog.taken()).toEqual({ messages: 0, bytes: 0 });
  expect([fill(other, 1, ['im']), fill(third, 1, ['im']), fill(third, 1, ['pm'])]).toEqual([4, 0, 4]);
});
