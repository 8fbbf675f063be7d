import { describe, expect, it } from 'vitest';
import {
  checkAbsent,
  checkStillUnique,
  checkUnchanged,
  checkUntaken,
  uniqueKeys,
} from '../../../../sandbox/backends/rules/uniqueness.ts';
import { outcome } from './outcome.ts';

const serial = new Map([['pump', ['serial']]]);
const place = new Map([['mixer', ['plant', 'position']]]);

describe('unique values', () => {
  it.each([
    ['the same value {S5.7}', serial, '{"serial":"A1"}', '{"serial":"A1","location":"hall"}', true],
    ['a wrapped value', serial, '{"serial":"A1"}', '{"serial":{"value":"A1"}}', true],
    ['a number in another notation', place, '{"plant":"n","position":10}', '{"position":1e1,"plant":"n"}', true],
    ['another value', serial, '{"serial":"A1"}', '{"serial":"a1"}', false],
    ['one of two values', place, '{"plant":"n","position":1}', '{"plant":"n","position":2}', false],
    ['numbers over 2^53', serial, '{"serial":9007199254740992}', '{"serial":9007199254740993}', false],
  ])('are compared: %s', (_, groups, a, b, isSame) => {
    const [keyOfA, keyOfB] = [uniqueKeys(groups, a), uniqueKeys(groups, b)];
    expect(keyOfA).toHaveLength(1);
    expect(JSON.stringify(keyOfA) === JSON.stringify(keyOfB)).toBe(isSame);
  });
  it('count for every group of the type, by its leader, except groups with missing values', () => {
    const properties = '{"serial":"A1","plant":"n","position":null}';
    expect(uniqueKeys(new Map([...serial, ...place]), properties)).toEqual([['pump', '"A1"']]);
    expect(uniqueKeys(new Map(), properties)).toEqual([]);
  });
});

const device = { deviceId: 'pump-1', tenant: 'acme' };
const own = { objectId: 'o', model: 'm', type: { ref: 'pump@1.0.0' }, owner: { id: 'p', path: 'pump-1' } };
const foreign = { ...own, owner: { id: 'q', path: 'pump-2/x' } };
const { owner: _, ...unowned } = own;

describe('a new object model', () => {
  it.each([
    ['alone', [], device, 'allowed'],
    ['beside another model of its object', [{ ...own, model: 'other' }], device, 'allowed'],
    ['there already', [own], device, '409 the object model exists'],
    ['there already, owned by nobody', [unowned], device, '409 the object model exists'],
    ['of another device', [{ ...foreign, model: 'x' }], device, '403 the object belongs to another device'],
    ['there already, for an administrator', [foreign], undefined, '409 the object model exists'],
  ])('is %s', (_what, siblings, caller, expected) =>
    expect(outcome(() => checkAbsent(siblings, 'm', caller))).toBe(expected),
  );
  it.each([
    ['nobody', [], device, 'allowed'],
    ['an own one', [own], device, '409 an object model with these unique properties exists'],
    ['one of nobody', [unowned], device, '409 an object model with these unique properties exists'],
    ['one of another device', [foreign], device, '403 the unique properties belong to an object of another device'],
    ['one, for an administrator', [foreign], undefined, '409 an object model with these unique properties exists'],
  ])('has the unique values of %s', (_what, holders, caller, expected) =>
    expect(outcome(() => checkUntaken(holders, caller))).toBe(expected),
  );
  it('gets the existing one in its refusal', () => {
    const meta = { objectId: 'o', type: 'pump@1.0.0' };
    expect(() => checkUntaken([own], device)).toThrow(expect.objectContaining({ meta }));
  });
});

describe('an update', () => {
  const changed = '400 $.properties.serial is unique and cannot be changed';
  it.each([
    ['keeps the value', '{"serial":"A1","a":1}', '{"serial":"A1","a":2}', 'allowed'],
    ['only wraps the value', '{"serial":"A1"}', '{"serial":{"value":"A1"}}', 'allowed'],
    ['writes the value in another way', '{"serial":10}', '{"serial":1.0e1}', 'allowed'],
    ['sets a value that was missing', '{}', '{"serial":"A1"}', 'allowed'],
    ['sets a value that was null', '{"serial":null}', '{"serial":"A1"}', 'allowed'],
    ['changes the value', '{"serial":"A1"}', '{"serial":"A2"}', changed],
    ['drops the value {S4.9}', '{"serial":"A1"}', '{}', changed],
    ['sets the value to null', '{"serial":"A1"}', '{"serial":null}', changed],
  ])('%s', (_what, before, after, expected) =>
    expect(outcome(() => checkUnchanged(['serial'], before, after))).toBe(expected),
  );
  it.each([
    ['has values of its own', [own], 'allowed'],
    ['has values that nobody has', [], 'allowed'],
    ['takes values of another one', [own, foreign], '400 another object model has these unique properties'],
  ])('%s', (_what, holders, expected) => expect(outcome(() => checkStillUnique(own, holders))).toBe(expected));
});
