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

test('an equal owner level takes the place', () => {
  admit('a', 0);
  admit('b', 0);
  expect(stolen).toEqual(['a amqp:link:stolen']);
});
test('a higher owner level takes the place', () => {
  admit('a', 1);
  admit('b', 2);
  expect(stolen).toEqual(['a amqp:link:stolen']);
});
test('a lower owner level is refused and disturbs no other reader', () => {
  admit('a', 2);
  expect(() => admit('b', 1)).toThrow(expect.objectContaining({ condition: 'amqp:link:stolen' }));
  expect(stolen).toEqual([]);
});
test('an owner level drives out all that share', () => {
  admit('a');
  admit('b');
  admit('c', 0);
  expect(stolen).toEqual(['a amqp:link:stolen', 'b amqp:link:stolen']);
});
test('a receiver without an owner level is refused while there is one with', () => {
  admit('a', 0);
  expect(() => admit('b')).toThrow(expect.objectContaining({ condition: 'amqp:link:stolen' }));
});
test('a sixth receiver that shares is refused', () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) admit(name);
  expect(() => admit('f')).toThrow(expect.objectContaining({ condition: 'amqp:resource-limit-exceeded' }));
});
test('a place that was given up is free for any level', () => {
  const leave = admit('a', 9);
  leave();
  admit('b');
  expect(stolen).toEqual([]);
});
test('a reader that was replaced and leaves late does not push out its successor', () => {
  const leave = admit('a', 1);
  admit('b', 1);
  leave();
  expect(() => admit('c')).toThrow();
});
test('places do not disturb each other', () => {
  admit('a', 1, 'g/0');
  admit('b', 0, 'g/1');
  admit('c', 0, 'h/0');
  expect(stolen).toEqual([]);
});
