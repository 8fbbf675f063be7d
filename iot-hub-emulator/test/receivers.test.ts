import { beforeEach, describe, expect, test } from 'vitest';
import { parseFilter } from '../src/amqp/filter.ts';
import { createOwners, type Owners } from '../src/amqp/owners.ts';

let owners: Owners;
let stolen: string[];
beforeEach(() => {
  owners = createOwners();
  stolen = [];
});

const admit = (name: string, epoch?: number, place = 'g/0') =>
  owners.admit(place, { name, epoch, onStolen: ({ condition }) => stolen.push(`${name} ${condition}`) });

test('a receiver with a lower owner level is refused, and the present one stays', () => {
  admit('a', 2);
  expect(() => admit('b', 1)).toThrow(expect.objectContaining({ condition: 'amqp:link:stolen' }));
  expect(stolen).toEqual([]);
});
test('a receiver with an owner level disconnects all that share the partition', () => {
  admit('a');
  admit('b');
  admit('c', 0);
  expect(stolen).toEqual(['a amqp:link:stolen', 'b amqp:link:stolen']);
});
test('a partition without receivers is free for any owner level', () => {
  const leave = admit('a', 9);
  leave();
  admit('b');
  expect(stolen).toEqual([]);
});
test('a replaced receiver that closes late does not disconnect its successor', () => {
  const leave = admit('a', 1);
  admit('b', 1);
  leave();
  expect(() => admit('c')).toThrow();
});
test('partitions are independent of each other', () => {
  admit('a', 1, 'g/0');
  admit('b', 0, 'g/1');
  admit('c', 0, 'h/0');
  expect(stolen).toEqual([]);
});

describe('a receiver starts', () => {
  test.each([
    [undefined, { by: 'offset', value: -1, inclusive: false }],
    ["amqp.annotation.x-opt-offset > '-1'", { by: 'offset', value: -1, inclusive: false }],
    ["amqp.annotation.x-opt-offset > '@latest'", { by: 'latest' }],
    ["amqp.annotation.x-opt-offset >= '1234'", { by: 'offset', value: 1234, inclusive: true }],
    ["amqp.annotation.x-opt-sequence-number > '7'", { by: 'sequenceNumber', value: 7, inclusive: false }],
    ["amqp.annotation.x-opt-sequence-number >= '7'", { by: 'sequenceNumber', value: 7, inclusive: true }],
    ["amqp.annotation.x-opt-enqueued-time > '1700000000000'", { by: 'enqueuedTime', value: 1.7e12, inclusive: false }],
    [' amqp.annotation.x-opt-sequence-number>=7 ', { by: 'sequenceNumber', value: 7, inclusive: true }],
  ])('at the position of %j', (selector, start) => expect(parseFilter(selector)).toEqual(start));

  test.each([
    'offset > 1',
    "amqp.annotation.x-opt-offset < '1'",
    "amqp.annotation.x-opt-offset > 'abc'",
    "amqp.annotation.x-opt-sequence-number > '@latest'",
    "amqp.annotation.x-opt-offset > '1' OR 1=1",
    '',
    7,
  ])('not with %j, which is refused', (selector) =>
    expect(() => parseFilter(selector)).toThrow('The filter of the receiver is none that Event Hubs knows.'),
  );
});
