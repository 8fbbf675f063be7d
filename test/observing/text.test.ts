import { nearest } from '@device-messaging/telemetry/text.ts';
import { expect, it } from 'vitest';

const names = ['model.create', 'model.update', 'type.create'];

it.each([
  ['model.update', 'model.update'],
  ['model.updated', 'model.update'],
  ['modl.create', 'model.create'],
  ['tpye.create', 'type.create'],
  ['', 'type.create'],
])('the nearest name to %j is %s', (given, expected) => expect(nearest(given, names)).toBe(expected));

it('an empty list has no nearest name', () => expect(nearest('model.create', [])).toBeUndefined());
it('a name with more differences than allowed is not returned', () =>
  expect([nearest('modl.creat', names, 2), nearest('modl.creat', names, 1)]).toEqual(['model.create', undefined]));
it('long names are compared by their first 100 characters', () =>
  expect(nearest('x'.repeat(1_000_000), ['x'.repeat(99), 'x'.repeat(100)])).toBe('x'.repeat(100)));
