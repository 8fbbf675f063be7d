import { isDeepStrictEqual } from 'node:util';
import { type Json, textIn } from '../protocol/json.ts';

/**
 * Whether two JSON texts say the same: the order of keys, white space, escapes and the spelling of numbers (`1.0`, `10e-1`)
 * do not matter. Numbers are compared exactly, never as JavaScript numbers: 2^53 and 2^53 + 1 differ.
 */
export const saysTheSame = (a: string, b: string): boolean => isDeepStrictEqual(exact(a), exact(b));

/** The same for one member of two objects; a member that is missing says what `otherwise` says. */
export function equalIn(key: string, a: Json, b: Json, otherwise = 'null'): boolean {
  const read = (json: Json) => textIn(json, key) ?? otherwise;
  return saysTheSame(read(a), read(b));
}

/** What the text says, with each number as text in one spelling, told from real text by its first letter. */
const exact = (text: string): unknown =>
  JSON.parse(
    text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token[0] === '"' ? `"s${token.slice(1)}` : `"n${decimal(token)}"`,
    ),
  );

/** More digits of an exponent than a JavaScript number holds exactly. */
const longExponent = 16;

/** A number in its only spelling: significant digits and exponent. One with a senseless exponent keeps its own spelling. */
function decimal(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  if (end === 0) return '0';
  if (exponent.length >= longExponent) return number;
  return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
