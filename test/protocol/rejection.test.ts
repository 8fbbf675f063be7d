import { describe, expect, it } from 'vitest';
import { firstOf, listed, quoted, Rejection, shortened } from '../../src/protocol/rejection.ts';

const faults = (count: number) => Array.from({ length: count }, (_, index) => `fault ${index}`);

describe('faults', () => {
  it('are all named up to ten', () => {
    expect(firstOf(faults(10))).toEqual(faults(10));
    expect(listed(faults(2))).toBe('fault 0; fault 1');
  });
  it('beyond ten are counted', () => {
    expect(firstOf(faults(11))).toEqual([...faults(10), '… and 1 more']);
    expect(firstOf(faults(25)).at(-1)).toBe('… and 15 more');
  });
});

describe('a text', () => {
  it('of the allowed number of characters is complete', () => {
    expect(shortened('x'.repeat(1_000))).toBe('x'.repeat(1_000));
    expect(shortened('12345', 5)).toBe('12345');
  });
  it('of one character more ends with an ellipsis within the limit', () =>
    expect([shortened('x'.repeat(1_001)), shortened('123456', 5)]).toEqual([`${'x'.repeat(999)}…`, '1234…']));
  it('is never truncated within a character', () => expect(shortened('123😀6', 5)).toBe('123\ufffd…'));
});

describe('a quoted name', () => {
  const name = (length: number) => 'x'.repeat(length);

  it.each([
    ['', '""'],
    ['a "b"\\', String.raw`"a \"b\"\\"`],
    ['a\r\n\u0000b\u2028\u2029\ud800', '"a\ufffd\ufffd\ufffdb\ufffd\ufffd\ufffd"'],
    [name(64), `"${name(64)}"`],
    [name(65), `"${name(64)}…"`],
    [name(1_000), `"${name(64)}…"`],
    [`${name(63)}😀`, `"${name(63)}\ufffd…"`],
    [`${name(62)}😀`, `"${name(62)}😀"`],
  ])('of %j is %s', (text, expected) => expect(quoted(text)).toBe(expected));
});

it('a rejection has its code and its details', () =>
  expect(new Rejection('not_authorized', 'another owns it')).toMatchObject({
    ...{ name: 'Rejection', code: 'not_authorized', details: 'another owns it' },
    message: 'not_authorized: another owns it',
  }));

it('the details of a rejection are truncated, in the message as well', () => {
  const rejection = new Rejection('validation_error', 'x'.repeat(2_000));
  expect(rejection.details).toBe(`${'x'.repeat(999)}…`);
  expect(rejection.message).toBe(`validation_error: ${'x'.repeat(999)}…`);
});
