import { expect, it } from 'vitest';
import { propertyBytes, textProperties } from '../../src/protocol/properties.ts';

it('typed values have the meaning of their text', () => {
  const date = new Date('2026-01-02T03:04:05.678Z');
  expect({ ...textProperties({ text: '2', number: 2, big: 2n ** 63n, boolean: true, date }) }).toEqual({
    text: '2',
    number: '2',
    big: '9223372036854775808',
    boolean: 'true',
    date: '2026-01-02T03:04:05.678Z',
  });
});

it('values without a text form are left out', () =>
  expect({ ...textProperties({ nothing: null, bytes: Buffer.from('x'), map: {} }) }).toEqual({}));

it('names of Object.prototype are ordinary names {S2.9}', () => {
  const properties = textProperties(JSON.parse('{"__proto__":"a","constructor":"b"}'));
  expect(Object.getPrototypeOf(properties)).toBeNull();
  expect(Object.keys(properties)).toEqual(['__proto__', 'constructor']);
  expect(properties['toString']).toBeUndefined();
});

it('the size is that of names and values in UTF-8', () =>
  expect(propertyBytes(textProperties({ ab: 'c', ü: '€' }))).toBe(3 + 5));
