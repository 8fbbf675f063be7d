import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatBag, parseBag } from '../src/mqtt/topics.ts';

describe('property bags', () => {
  test.each([
    ['$.new=1', { '$.new': '1' }],
    ['a=1/', { a: '1' }],
    ['a=1+1', { a: '1+1' }],
  ])('have ordinary properties, a plus sign included, and no slash at the end: %s', (bag, properties) =>
    expect({ ...parseBag(bag).properties }).toEqual(properties),
  );
  test('have U+FFFD where a text has half a character', () =>
    expect(formatBag({ system: { to: '\udc00' }, properties: { 'a\ud800': 'b\ud800' } })).toBe(
      '%24.to=%EF%BF%BD&a%EF%BF%BD=b%EF%BF%BD',
    ));
  test('have no prototype that a name could reach', () => {
    const { properties } = parseBag('__proto__=x&toString=y');
    expect(Object.getPrototypeOf(properties)).toBe(null);
    expect(Object.keys(properties)).toEqual(['__proto__', 'toString']);
  });
  test('are read as they were written', () => {
    const text = fc.string({ unit: 'grapheme' });
    const bags = fc.dictionary(
      text.filter((name) => name !== '' && !name.startsWith('$.')),
      text,
    );
    fc.assert(
      fc.property(bags, fc.record({ messageId: text, to: text }), (properties, system) => {
        const read = parseBag(formatBag({ system, properties }));
        expect(read.system).toEqual(system);
        expect(Object.entries(read.properties)).toEqual(Object.entries(properties));
      }),
    );
  });
  test('can be read whatever their text is', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (bag) => void parseBag(bag)));
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'%2fF0&=$./+#\0') }), (bag) => void parseBag(bag)));
  });
});
