import { isDeepStrictEqual } from 'node:util';
import { type Json, textIn } from '../protocol/json.ts';

/**
 * Whether two JSON texts have the same value. The order of keys, white space, escapes and the notation of numbers (`1.0`,
 * `10e-1`) do not matter. Numbers are compared exactly, not as JavaScript numbers: 2^53 and 2^53 + 1 differ.
 */
export const saysTheSame = (a: string, b: string): boolean => isDeepStrictEqual(exact(a), exact(b));

/** The same for one member of two objects. `otherwise` replaces a missing member. */
export function equalIn(key: string, a: Json, b: Json, otherwise = 'null'): boolean {
  const read = (json: Json) => textIn(json, key) ?? otherwise;
  return saysTheSame(read(a), read(b));
}

/** The value, with each number as normalised text. A prefix tells numbers (`n`) from strings (`s`). */
const exact = (text: string): unknown =>
  JSON.parse(
    text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token[0] === '"' ? `"s${token.slice(1)}` : `"n${decimal(token)}"`,
    ),
  );

/** From this length on, a JavaScript number does not hold an exponent exactly. */
const longExponent = 16;

/** A number in normal form: significant digits and exponent. A number with a very long exponent stays unchanged. */
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
