import { isDeepStrictEqual } from 'node:util';
import { type Json, textIn } from '../protocol/json.ts';
import { decimalOf } from '../protocol/jsonNumbers.ts';

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
      token[0] === '"' ? `"s${token.slice(1)}` : `"n${normal(token)}"`,
    ),
  );

/** A number in normal form: sign, significant digits and exponent. One with a very long exponent stays unchanged. */
function normal(number: string): string {
  const { digits, exponent } = decimalOf(number);
  if (digits === '') return '0';
  if (!Number.isSafeInteger(exponent)) return number;
  return `${number.startsWith('-') ? '-' : ''}${digits}e${exponent}`;
}
