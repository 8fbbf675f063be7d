import { describe, expect, it } from 'vitest';
import { deviceHeader, headerValue } from '../../src/backends/percentEncoding.ts';
import { refusalOf } from '../../src/backends/refusal.ts';
import { Rejection } from '../../src/protocol/rejection.ts';

const refusal = (answer: string) => refusalOf('backend: work', 409, Buffer.from(answer), (words) => words);
const said = (title: string) =>
  refusal(JSON.stringify({ errors: [{ title }] })).details.replace('backend: work failed with HTTP 409', '');
const full = '{"errors":[{"title":"Full","detail":"as it is","meta":{"at":1}},{"title":"Empty","meta":{"at":2}}]}';

it('an answer of up to 65,536 bytes has the words and the meta of its first error', () => {
  const { details, meta } = refusal(full.padEnd(65_536));
  expect({ details, meta }).toEqual({ details: 'backend: work failed with HTTP 409: Full: as it is', meta: { at: 1 } });
});

it.each([
  ['addresses', 'see https://a.example/x and http://b.example', ': see … and …'],
  ['control characters and space around', ' a\u0000\u2028b\n', ': a b'],
  ['300 characters', 'x'.repeat(300), `: ${'x'.repeat(300)}`],
  ['301 characters', 'x'.repeat(301), `: ${'x'.repeat(299)}…`],
  ['a pair that would be cut', `${'x'.repeat(298)}😀yy`, `: ${'x'.repeat(298)}…`],
  ['half a pair before one that would be cut', `\ud800${'x'.repeat(297)}😀yy`, `: \ud800${'x'.repeat(297)}…`],
  ['a pair before the cut', `😀${'x'.repeat(300)}`, `: 😀${'x'.repeat(297)}…`],
])('words of a backend are made readable: %s', (_, title, details) => expect(said(title)).toBe(details));

it.each([
  ...['', '[]', '{"errors":[]}', '{"errors":[{"meta":1}]}', 'Bad Request', '{"error":"x"}'],
  ...['{"errors":[{"title":1,"detail":null,"meta":7}]}', '{"errors":[{"__proto__":{"title":"x"}}]}'],
  full.padEnd(65_537),
])('an answer that says nothing usable has no words and an empty meta, row %#', (answer) => {
  const { details, meta, status } = refusal(answer);
  expect({ details, meta, status }).toEqual({ details: 'backend: work failed with HTTP 409', meta: {}, status: 409 });
});

describe('the value of a header', () => {
  it.each([
    ['512 bytes', 'a'.repeat(512), 'a'.repeat(512)],
    ['513 bytes', 'a'.repeat(513), 'a'.repeat(512)],
    ['a character that ends with byte 512', `${'a'.repeat(506)}éb`, `${'a'.repeat(506)}%C3%A9`],
    ['a character that ends with byte 513', `${'a'.repeat(507)}éb`, 'a'.repeat(507)],
    ['half a surrogate pair', 'a\ud800b', 'a%EF%BF%BDb'],
  ])('is encoded, and cut between characters: %s', (_, value, header) => expect(headerValue(value)).toBe(header));

  it('is never a part of a device id', () => {
    expect(deviceHeader('a'.repeat(512))).toBe('a'.repeat(512));
    const tooLong = new Rejection('validation_error', 'the device id is longer than 512 bytes when percent-encoded');
    expect(() => deviceHeader('a'.repeat(513))).toThrow(tooLong);
  });
});
