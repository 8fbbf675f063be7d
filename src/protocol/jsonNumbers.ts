/*
 * What becomes of the numbers of a JSON text when they are read as doubles and written again.
 *
 *   number = ["-"] digits ["." digits] [("e" / "E") ["+" / "-"] digits]
 */

/** The size of a number, without its sign: `digits` × 10^`exponent`. The first and the last digit are not 0; zero has no digits. */
export interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

const zero = 0x30;

/** Linear: a regular expression would read a row of zeros again from each of them. */
export function decimalOf(literal: string): Decimal {
  const start = literal.startsWith('-') ? 1 : 0;
  const e = literal.search(/[eE]/);
  const end = e < 0 ? literal.length : e;
  const power = e < 0 ? 0 : Number(literal.slice(e + 1));
  const dot = literal.indexOf('.');
  const all = dot < 0 ? literal.slice(start, end) : literal.slice(start, dot) + literal.slice(dot + 1, end);
  const fraction = dot < 0 ? 0 : end - dot - 1;
  let from = 0;
  while (all.charCodeAt(from) === zero) from += 1;
  let to = all.length;
  while (to > from && all.charCodeAt(to - 1) === zero) to -= 1;
  return { digits: all.slice(from, to), exponent: power - fraction + all.length - to };
}

const isWholeDecimal = ({ digits, exponent }: Decimal): boolean => digits === '' || exponent >= 0;

/** Whether a number of a JSON text is exactly a whole one: `1.0` and `1e3` are, `0.99999999999999999999` is not. */
export const isWhole = (literal: string): boolean => isWholeDecimal(decimalOf(literal));

/**
 * Why the double that is nearest to a number must not stand for it, as the end of a sentence; undefined when it may.
 * Decimals may be rounded; whole numbers may not become others, and nothing may become infinite or zero.
 */
export function numberProblem(literal: string): string | undefined {
  const value = Number(literal);
  const size = Math.abs(value);
  if (size > 0 && size <= Number.MAX_SAFE_INTEGER) return undefined; // each whole number of this size is a double
  if (!Number.isFinite(value)) return 'is a number beyond the range of a double';
  const decimal = decimalOf(literal);
  if (value === 0) return decimal.digits === '' ? undefined : 'is a number so small that it would become 0';
  if (!isWholeDecimal(decimal)) return undefined;
  const carried = decimalOf(String(value));
  return carried.digits === decimal.digits && carried.exponent === decimal.exponent
    ? undefined
    : 'is a whole number that would change, because a double cannot hold it; use a string';
}
