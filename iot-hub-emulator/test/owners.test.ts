import { beforeEach, expect, test } from 'vitest';
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
