import { expect, it } from 'vitest';
import { refusalOf } from '../../src/backends/refusal.ts';

const refusal = (answer: string) => refusalOf('backend: work', 409, Buffer.from(answer), (words) => words);
const said = (title: string) =>
  refusal(JSON.stringify({ errors: [{ title }] })).details.replace('backend: work failed with HTTP 409', '');

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
  '',
  '[]',
  '{"errors":[]}',
  '{"errors":[{"meta":1}]}',
  `{"errors":[{"meta":{"a":1}}],"b":"${'x'.repeat(65_536)}"}`,
])('an answer that says nothing usable has no words and an empty meta, row %#', (answer) => {
  const { details, meta, status } = refusal(answer);
  expect({ details, meta, status }).toEqual({ details: 'backend: work failed with HTTP 409', meta: {}, status: 409 });
});
