import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  absentWhenNull,
  faultsOf,
  guid,
  integerIn,
  isGuid,
  isSameId,
  jsonObject,
  modelId,
  parseTypeRef,
  path,
  target,
  typeRef,
} from '../../src/protocol/fields.ts';

const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

it.each([
  ['6f9619ff-8b86-d011-b42d-00cf4fc964ff', true],
  ['6F9619FF-8B86-D011-B42D-00CF4FC964FF', true],
  ['6f9619ff8b86d011b42d00cf4fc964ff', false],
  ['{6f9619ff-8b86-d011-b42d-00cf4fc964ff}', false],
  ['6f9619ff-8b86-d011-b42d-00cf4fc964ff/../x', false],
  ['6f9619ff-8b86-d011-b42d-00cf4fc964ff\n', false],
  ['../..', false],
  ['%2e%2e%2f', false],
  ['', false],
  [7, false],
])('%j is a GUID: %s', (value, expected) => expect(accepts(guid, value)).toBe(expected));

it.each([
  ['svc.device', true],
  ['Pumpe-für_Öl', true],
  ['a b', true],
  [' ', true],
  ['a@1', true],
  ['.a', true],
  ['.@1', true],
  ['.', false],
  ['..a', false],
  ['..', false],
  ['../svc.device', false],
  ['a/b', false],
  ['a\\b', false],
  ['a%2fb', false],
  ['a?b', false],
  ['a#b', false],
  ['a%b', false],
  ['a\r\nb', false],
  ['', false],
  ['x'.repeat(257), false],
])('%j is a model definition identifier: %s', (value, expected) => expect(accepts(modelId, value)).toBe(expected));

describe('a type reference', () => {
  it.each([
    ['pump', { typeId: 'pump', version: undefined }],
    ['pump@2', { typeId: 'pump', version: '2' }],
    ['pump@2.0.1', { typeId: 'pump', version: '2.0.1' }],
    ['feed pump@2', { typeId: 'feed pump', version: '2' }],
    ['.pump', { typeId: '.pump', version: undefined }],
  ])('%s is read', (value, expected) => expect(parseTypeRef(value)).toEqual(expected));

  it.each([
    ...['', '@1', 'pump@', 'pump@1.2', 'pump@1.2.3.4', 'pump@latest', 'pump@1@2', 'a/b@1', '.', '.@1', '..'],
    ...['..a@1', 7, null],
  ])('%j is invalid', (value) => expect(parseTypeRef(value)).toBeUndefined());
});

it.each([
  ['', true],
  ['edge', true],
  ['edge/sensor 1', true],
  ['edge/%2f', true],
  ['/edge', false],
  ['edge/', false],
  ['edge//sensor', false],
  ['.', false],
  ['edge/../other', false],
  ['edge\tsensor', false],
])('%j is a connectivity path: %s', (value, expected) => expect(accepts(path, value)).toBe(expected));

it.each([
  ['', true],
  ['/a', true],
  ['a/', true],
  ['../x', true],
  ['a//b/%2f', true],
  ['a\u0000', false],
  ['a\r\n', false],
  ['a\u0085', false],
])('%j is a target: %s', (value, expected) => expect(accepts(target, value)).toBe(expected));

it.each([
  ['0', 0n],
  ['-7', -7n],
  ['42', 42n],
  ['9007199254740993', 9_007_199_254_740_993n],
  [`-${'9'.repeat(40)}`, -(10n ** 40n - 1n)],
  ['9'.repeat(41), undefined],
  ['4.0', 4n],
  ['-4e2', -400n],
  ['12.50', undefined],
  ['1e400', undefined],
  ['', undefined],
  ['"5"', undefined],
  ['x5', undefined],
  [' 5', undefined],
  ['null', undefined],
  ['.5', undefined],
])('the exact integer of %s is %s', (written, value) => expect(integerIn(written)).toBe(value));

it('values of any type are checked for being a GUID', () => {
  expect([isGuid('6f9619ff-8b86-d011-b42d-00cf4fc964ff'), isGuid('6f9619ff')]).toEqual([true, false]);
  expect([isGuid(undefined), isGuid(['6f9619ff-8b86-d011-b42d-00cf4fc964ff'])]).toEqual([false, false]);
});

it('a null member counts as absent where the schema says so, and others are kept', () => {
  const schema = absentWhenNull(z.number());
  expect([schema.parse(null), schema.parse(undefined), schema.parse(0)]).toEqual([undefined, undefined, 0]);
});
it('a body that is not an object is reported as such', () => {
  const { error } = jsonObject({ objectId: guid }).safeParse([]);
  expect(faultsOf(error ?? new z.ZodError([]), 'body')).toEqual(['body must be a JSON object']);
});

describe('faults', () => {
  const shape = z.object({ objectId: guid, model: modelId, type: typeRef, related: z.array(modelId), owner: path });
  const faults = (value: unknown, what: 'property' | 'body') =>
    faultsOf(shape.safeParse(value).error ?? new z.ZodError([]), what);

  it('name the missing member', () => {
    const missing = ['objectId', 'model', 'type', 'related', 'owner'].map((name) => expect.stringContaining(name));
    expect([faults({}, 'property'), faults({}, 'property')[0]]).toEqual([missing, 'property objectId is required']);
    expect(faults({}, 'body')[2]).toBe('body.type is required');
  });

  it('name the path and the required type', () =>
    expect(faults({ objectId: 5, model: '', type: 7, related: ['a', '/'], owner: false }, 'body')).toEqual([
      'body.objectId must be a GUID',
      expect.stringMatching(/^body\.model must be a model definition identifier/),
      'body.type must be a type reference',
      expect.stringMatching(/^body\.related\[1\] must be a model definition identifier/),
      'body.owner must be text',
    ]));

  it('of the whole body name the body', () => expect(faults(5, 'body')).toEqual([expect.stringMatching(/^body [^.]/)]));
});

it.each([
  ['6f9619ff-8b86-d011-b42d-00cf4fc964ff', '6F9619FF-8B86-D011-B42D-00CF4FC964FF', true],
  ['6f9619ff-8b86-d011-b42d-00cf4fc964ff', '6f9619ff-8b86-d011-b42d-00cf4fc964fe', false],
  ['p1', 'P1', false],
  ['p1', 'p1', true],
  ['6f9619ff-8b86-d011-b42d-00cf4fc964ff', undefined, false],
])('%s and %s are the same id, if both are GUIDs in any case: %s', (one, other, isSame) =>
  expect(isSameId(one, other)).toBe(isSame),
);
