import { describe, expect, test } from 'vitest';
import { createPartitionLog, eventOverhead, type StartPosition } from '../src/events/partitionLog.ts';

/** A log of events "0", "1", … of ten bytes each, one a second from 1000 on, with room for so many. */
const filled = (count: number, room = 1000) => {
  let clock = 0;
  const log = createPartitionLog(0, room * (10 + eventOverhead), () => (clock += 1000));
  for (let i = 0; i < count; i++) log.append(({ sequenceNumber }) => Buffer.from(String(sequenceNumber).padEnd(10)));
  return log;
};

test('an event is encoded with the position that it gets', () => {
  const log = filled(2);
  const event = log.append((place) => Buffer.from(JSON.stringify(place)));
  expect(JSON.parse(event.bytes.toString())).toEqual({ sequenceNumber: 2, offset: 20, enqueuedTime: 3000 });
  expect(log.last()).toBe(event);
});
test('enqueued times never go back, even if the clock does', () => {
  const times = [5, 3, 8];
  const log = createPartitionLog(0, 10, () => times.shift() ?? 0);
  const stamped = [1, 2, 3].map(() => log.append(() => Buffer.alloc(0)).enqueuedTime);
  expect(stamped).toEqual([5, 5, 8]);
});
test('an empty partition has no first or last event', () => {
  const log = filled(0);
  expect([log.first(), log.next(), log.last(), log.at(0), log.at(-1)]).toEqual([0, 0, undefined, undefined, undefined]);
});
test('the oldest events are removed beyond the retention', () => {
  const log = filled(10_000, 3);
  expect([log.first(), log.next()]).toEqual([9997, 10_000]);
  expect(log.at(9996)).toBeUndefined();
  expect([9997, 9998, 9999].map((n) => log.at(n)?.sequenceNumber)).toEqual([9997, 9998, 9999]);
});
test('a large event removes several small ones, and the newest event stays, however large', () => {
  const log = filled(10, 10);
  log.append(() => Buffer.alloc(5 * (10 + eventOverhead) - eventOverhead));
  expect([log.first(), log.next()]).toEqual([5, 11]);
  log.append(() => Buffer.alloc(100_000));
  expect([log.first(), log.next()]).toEqual([11, 12]);
});
test('a watcher gets each event once, until it stops', () => {
  const log = filled(0);
  let heard = 0;
  const stop = log.watch(() => heard++);
  log.append(() => Buffer.alloc(0));
  stop();
  log.append(() => Buffer.alloc(0));
  expect(heard).toBe(1);
});

describe('the start position', () => {
  test.each<[StartPosition, number]>([
    [{ by: 'offset', value: -1, inclusive: false }, 0],
    [{ by: 'offset', value: 20, inclusive: false }, 3],
    [{ by: 'offset', value: 20, inclusive: true }, 2],
    [{ by: 'offset', value: 15, inclusive: true }, 2],
    [{ by: 'sequenceNumber', value: 0, inclusive: false }, 1],
    [{ by: 'sequenceNumber', value: 4, inclusive: true }, 4],
    [{ by: 'sequenceNumber', value: 99, inclusive: true }, 5],
    [{ by: 'enqueuedTime', value: 3000, inclusive: false }, 3],
    [{ by: 'enqueuedTime', value: 3000, inclusive: true }, 2],
    [{ by: 'enqueuedTime', value: 0, inclusive: false }, 0],
    [{ by: 'latest' }, 5],
  ])('%j is event %i', (start, sequenceNumber) => expect(filled(5).find(start)).toBe(sequenceNumber));
  test('of a removed event is that of the oldest event', () =>
    expect(filled(10, 4).find({ by: 'offset', value: -1, inclusive: false })).toBe(6));
});
