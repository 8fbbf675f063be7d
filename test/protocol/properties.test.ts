import { expect, it } from 'vitest';
import { propertyBytes, textless, textProperties } from '../../src/protocol/event.ts';

it('typed values have the meaning of their text', () => {
  const given = { text: '2', number: 2, fraction: -1.5, boolean: true, nothing: null, bytes: textless('binary') };
  expect({ ...textProperties(given) }).toEqual({ text: '2', number: '2', fraction: '-1.5', boolean: 'true' });
});

it('names of Object.prototype are ordinary names {S2.9}', () => {
  const properties = textProperties(JSON.parse('{"__proto__":"a","constructor":"b"}'));
  expect(Object.getPrototypeOf(properties)).toBeNull();
  expect(Object.keys(properties)).toEqual(['__proto__', 'constructor']);
  expect(properties['toString']).toBeUndefined();
});

it('the size is that of names and values in UTF-8', () =>
  expect(propertyBytes(textProperties({ ab: 'c', ü: '€' }))).toBe(3 + 5));
