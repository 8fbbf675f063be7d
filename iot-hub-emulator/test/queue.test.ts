import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLockedQueue, type LockedItem, type LockedQueue } from '../src/cloudToDevice/queue.ts';

const rules = { timeToLiveMs: 3_600_000, lockMs: 60_000, deliveries: 3 };
let queue: LockedQueue<string>;
let left: [string, string][] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  left = [];
  queue = createLockedQueue({ rules, now: Date.now, onOutcome: (item, outcome) => left.push([item, outcome]) });
});
afterEach(() => vi.useRealTimers());

const open = (room = () => true) => {
  const got: LockedItem<string>[] = [];
  const close = queue.open({ receive: (handed) => got.push(handed), hasRoom: room });
  return { got, close, items: () => got.map(({ item, deliveryCount }) => `${item}${deliveryCount}`) };
};

describe('a lock', () => {
  test('that expires makes the message available again by itself, and is not counted', () => {
    const receiver = open();
    queue.add('a');
    vi.advanceTimersByTime(rules.lockMs - 1);
    expect(receiver.items()).toEqual(['a1']);
    vi.advanceTimersByTime(1);
    expect(receiver.items()).toEqual(['a1', 'a1']);
    expect(receiver.got.map(({ isRedelivered: again }) => again)).toEqual([false, true]);
  });
  test('may expire any number of times', () => {
    const receiver = open();
    queue.add('a');
    vi.advanceTimersByTime(10 * rules.lockMs);
    expect(receiver.items()).toEqual(Array(11).fill('a1'));
    expect(left).toEqual([]);
  });
  test('that has expired cannot be settled', () => {
    const receiver = open();
    queue.add('a');
    vi.advanceTimersByTime(rules.lockMs);
    receiver.got[0]?.settle('complete');
    expect(queue.items()).toEqual(['a']);
    receiver.got[1]?.settle('complete');
    expect(left).toEqual([['a', 'completed']]);
  });
  test('that has expired cannot be settled, even before the queue has processed that', () => {
    const receiver = open();
    queue.add('a');
    vi.setSystemTime(Date.now() + rules.lockMs); // no timer fires
    for (const how of ['complete', 'reject', 'abandon'] as const) receiver.got[0]?.settle(how);
    expect([queue.items(), left]).toEqual([['a'], []]);
    queue.flush();
    expect(receiver.items()).toEqual(['a1', 'a1']);
  });
  test('of a receiver that left passes to the next one, and the first can no longer settle the message', () => {
    const [first, second] = [open(), open()];
    queue.add('a');
    first.close();
    for (const how of ['complete', 'reject', 'abandon'] as const) first.got[0]?.settle(how);
    expect([queue.items(), left, second.items()]).toEqual([['a'], [], ['a1']]);
    second.got[0]?.settle('complete');
    expect(left).toEqual([['a', 'completed']]);
  });
  test('hides a message from other receivers', () => {
    open();
    queue.add('a');
    const second = open();
    queue.flush();
    expect(second.items()).toEqual([]);
  });
  test('protects a message beyond its time to live', () => {
    const receiver = open();
    queue.add('a', Date.now() + 10_000);
    vi.advanceTimersByTime(20_000);
    expect(queue.items()).toEqual(['a']);
    receiver.got[0]?.settle('complete');
    expect(left).toEqual([['a', 'completed']]);
  });
  test('that expires after the time to live removes the message', () => {
    open();
    queue.add('a', Date.now() + 10_000);
    vi.advanceTimersByTime(rules.lockMs);
    expect(left).toEqual([['a', 'expired']]);
  });
});

test('an expired message leaves the queue by itself', () => {
  queue.add('a');
  vi.advanceTimersByTime(rules.timeToLiveMs - 1);
  expect(left).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(left).toEqual([['a', 'expired']]);
});
test('a rejected message leaves the queue, and an abandoned one is delivered again up to the limit', () => {
  const receiver = open();
  queue.add('a');
  queue.add('b');
  receiver.got[0]?.settle('reject');
  expect(left).toEqual([['a', 'rejected']]);
  for (let i = 1; i <= rules.deliveries; i++) receiver.got[i]?.settle('abandon');
  expect(receiver.items()).toEqual(['a1', 'b1', 'b2', 'b3']);
  expect(left[1]).toEqual(['b', 'undeliverable']);
});
test('a receiver without room gets no message until it has room', () => {
  let credit = 0;
  const receiver = open(() => credit-- > 0);
  for (const item of ['a', 'b', 'c']) queue.add(item);
  expect(receiver.items()).toEqual([]);
  credit = 2;
  queue.flush();
  expect(receiver.items()).toEqual(['a1', 'b1']);
});
test('two receivers take turns, and the unsettled messages of one that leaves go to the other', () => {
  const [first, second] = [open(), open()];
  for (const item of ['a', 'b', 'c', 'd']) queue.add(item);
  expect(first.items()).toEqual(['a1', 'c1']);
  expect(second.items()).toEqual(['b1', 'd1']);
  first.got[0]?.settle('complete');
  first.close();
  expect(second.items()).toEqual(['b1', 'd1', 'c1']);
});
test('a message can be settled once only', () => {
  const receiver = open();
  queue.add('a');
  receiver.got[0]?.settle('complete');
  receiver.got[0]?.settle('reject');
  expect(left).toEqual([['a', 'completed']]);
});
