import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createDevicebound, type Delivery, type Devicebound, limits } from '../src/cloudToDevice/deviceQueues.ts';
import { createFeedback, type Feedback, feedbackRules } from '../src/cloudToDevice/feedback.ts';
import { createLockedQueue, type LockedItem, type LockedQueue } from '../src/cloudToDevice/queue.ts';
import { createRegistry, type Registry } from '../src/identity/registry.ts';
import { createJournal, type Journal } from '../src/journal/journal.ts';
import { type Message, messageSize } from '../src/values/message.ts';

const rules = { timeToLiveMs: 3_600_000, lockMs: 60_000, deliveries: 3 };
let queue: LockedQueue<string>;
let left: [string, string][] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  left = [];
  queue = createLockedQueue({ rules, now: Date.now, onOutcome: (item, outcome) => left.push([item, outcome]) });
});

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
  test.each(['cleared', 'bounded'])('of a message that has gone since from a %s queue has no effect', (way) => {
    const changed: string[] = [];
    const bound = { bytes: 1, of: () => 1 };
    const onChange = (item: string) => changed.push(item);
    queue = createLockedQueue({ rules, now: Date.now, onChange, onOutcome: () => undefined, bound });
    const receiver = open();
    queue.add('a');
    if (way === 'cleared') queue.clear();
    else queue.add('b');
    const before = [...changed];
    receiver.got[0]?.settle('abandon');
    expect([changed, receiver.items().slice(0, 1)]).toEqual([before, ['a1']]);
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

let now = 0;
let registry: Registry;
let journal: Journal;
let devicebound: Devicebound;
let feedback: Feedback;
beforeEach(() => {
  now = Date.UTC(2030, 0, 1);
  registry = createRegistry(() => now);
  journal = createJournal({ now: () => now });
  feedback = createFeedback({ rules: { ...feedbackRules, batch: 1 }, bytes: 1000, now: () => now });
  const rules = { rules: limits, bytes: 200_000, strict: false };
  devicebound = createDevicebound({ registry, journal, feedback, ...rules, now: () => now });
  registry.create('d1');
});

const message = (id: string, system: Message['system'] = {}): Message => ({
  ...{ system: { messageId: id, ...system }, properties: {}, body: Buffer.from(id) },
});
const send = (...ids: string[]) => {
  for (const id of ids) devicebound.enqueue('d1', message(id), 'service');
};
const pending = () => devicebound.pending('d1').map(({ system }) => system.messageId);
const settled = () => journal.list({ kind: 'c2d-settled' }).map(({ messageId, outcome }) => [messageId, outcome]);
const listen = () => {
  const got: Delivery[] = [];
  const stop = devicebound.listen('d1', (delivery) => got.push(delivery));
  return { got, stop, ids: () => got.map((delivery) => delivery.message.system.messageId) };
};

describe('the queue of a device', () => {
  test('is delivered to the latest receiver, including messages that the previous one had not completed', () => {
    send('a');
    const first = listen();
    const second = listen();
    send('b');
    expect([first.ids(), second.ids()]).toEqual([['a'], ['a', 'b']]);
    first.stop();
    send('c');
    expect(second.ids()).toEqual(['a', 'b', 'c']);
  });
  test('delivers messages again, in order and uncounted, that were not completed when the device disconnected', () => {
    send('a', 'b', 'c');
    const first = listen();
    first.got[1]?.complete();
    first.stop();
    const second = listen();
    expect(second.ids()).toEqual(['a', 'c']);
    expect(second.got.map(({ deliveryCount }) => deliveryCount)).toEqual([1, 1]);
    expect(second.got.map(({ isRedelivered: again }) => again)).toEqual([true, true]);
  });
  test('removes a message after an hour, or at its own expiry time', () => {
    send('a');
    devicebound.enqueue('d1', message('b', { expiryTime: new Date(now + 1000).toISOString() }), 'service');
    devicebound.enqueue('d1', message('c', { expiryTime: new Date(now + 7_200_000).toISOString() }), 'service');
    now += 1000;
    listen().stop();
    expect(settled()).toEqual([['b', 'expired']]);
    now += 3_599_000;
    expect(listen().ids()).toEqual(['c']);
    expect(settled()).toEqual([
      ['b', 'expired'],
      ['a', 'expired'],
    ]);
  });
  test('does not count expired messages towards its limit', () => {
    for (let i = 0; i < limits.pending; i++) send(String(i));
    now += limits.timeToLiveMs;
    send('new');
    expect(pending()).toEqual(['new']);
  });
  test('is removed with the device', () => {
    send('a');
    registry.delete('d1');
    registry.create('d1');
    expect(listen().ids()).toEqual([]);
    expect(settled()).toEqual([['a', 'device-deleted']]);
  });
});

test('the queues of all devices together have a bound in bytes; removed messages make room', () => {
  const large = (id: string) => ({ system: { messageId: id }, properties: {}, body: Buffer.alloc(49_999) });
  for (const id of ['1', '2', '3', '4']) {
    registry.create(`large-${id}`);
    devicebound.enqueue(`large-${id}`, large(id), 'service');
  }
  const busy = expect.objectContaining({ condition: 'com.microsoft:server-busy' });
  expect(() => send('a')).toThrow(busy);
  const stop = devicebound.listen('large-1', ({ complete }) => complete());
  stop();
  devicebound.enqueue('d1', large('5'), 'service');
  expect(() => send('a')).toThrow(busy);
  registry.delete('large-2');
  send('a');
  now += limits.timeToLiveMs;
  for (const id of ['3', '4']) expect(devicebound.pending(`large-${id}`)).toEqual([]);
  for (const id of ['6', '7', '8', '9']) devicebound.enqueue('d1', large(id), 'service');
});

test('feedback that is not fetched is bounded in bytes: the oldest is dropped', () => {
  for (let i = 0; i < 100; i++)
    feedback.add({ originalMessageId: `m${i}`, statusCode: 'Success', deviceId: 'd1', deviceGenerationId: '1' });
  const left = feedback.queue.items();
  expect(left.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(1000);
  expect(left.length).toBeGreaterThan(1);
  expect(left.at(-1)?.records[0]?.originalMessageId).toBe('m99');
});

test('the size of a message is that of its body, system values and property names and values in UTF-8', () => {
  const [system, properties] = [
    { messageId: 'abc', contentType: 'é' },
    { é: 'xy', z: '' },
  ];
  expect(messageSize({ system, properties, body: Buffer.alloc(10) })).toBe(10 + 3 + 2 + 2 + 2 + 1);
});
