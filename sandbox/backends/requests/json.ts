// Bodies are stored as the text that was sent: JSON.parse checks them, these functions cut them. So 64-bit integers,
// `1.0`, `1e400` and the order of keys come back as they went in.
import { invalid } from './problem.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Offset after the string that opens at `at`. */
function afterString(text: string, at: number): number {
  let i = at + 1;
  for (let c = text.charCodeAt(i); c !== QUOTE; c = text.charCodeAt(i)) i += c === BACKSLASH ? 2 : 1;
  return i + 1;
}

/** Offset of the comma, colon or closing bracket that ends the value which begins at `at`. */
function endOfValue(text: string, at: number): number {
  let depth = 0;
  for (let i = at; ; ) {
    switch (text[i]) {
      case '"':
        i = afterString(text, i);
        continue;
      case '{':
      case '[':
        depth++;
        break;
      case '}':
      case ']':
        if (depth-- === 0) return i;
        break;
      case ',':
      case ':':
        if (depth === 0) return i;
        break;
    }
    i++;
  }
}

/** The raw texts of a well-formed array's elements. */
export function elements(array: string): string[] {
  const found: string[] = [];
  for (let at = array.indexOf('[') + 1; ; ) {
    const end = endOfValue(array, at);
    const element = array.slice(at, end).trim();
    if (element !== '') found.push(element);
    if (array[end] === ']') return found;
    at = end + 1;
  }
}

/**
 * The members of a well-formed object: name → raw text of the value, in the order of the text.
 * A name that occurs twice is refused (400): readers would disagree about which one counts.
 */
export function members(object: string, where = 'the body'): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = object.indexOf('{') + 1; ; ) {
    const colon = endOfValue(object, at);
    if (object[colon] === '}') return found;
    const name: string = JSON.parse(object.slice(at, colon));
    if (found.has(name)) throw invalid(`${where} names a member twice`);
    const end = endOfValue(object, colon + 1);
    found.set(name, object.slice(colon + 1, end).trim());
    if (object[end] === '}') return found;
    at = end + 1;
  }
}

/** An object's text, put together again from raw member texts. */
export function printMembers(parts: Iterable<readonly [string, string]>): string {
  return `{${Array.from(parts, ([name, raw]) => `${JSON.stringify(name)}:${raw}`).join(',')}}`;
}

/** A decimal number's one normal form, exact at any size: `1.0`, `1` and `10e-1` are all `1e0`. */
function normalNumber(raw: string): string {
  const [mantissa = '', exponent = '0'] = raw.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === '0') first++;
  let last = digits.length;
  while (last > first && digits[last - 1] === '0') last--;
  if (first === last) return '0e0';
  const power = BigInt(exponent.replace('+', '')) - BigInt(fraction.length) + BigInt(digits.length - last);
  return `${raw[0] === '-' ? '-' : ''}${digits.slice(first, last)}e${power}`;
}

/** A property's value without its `{"value": x}` wrapping. B2 */
function unwrap(raw: string): string {
  if (raw[0] !== '{') return raw;
  const inner = members(raw, 'a property value');
  return (inner.size === 1 ? inner.get('value') : undefined) ?? raw;
}

export type Scalar = 'string' | 'integer' | 'number' | 'boolean';

/**
 * The kind of a property value, plain or wrapped (B2), and a text that two values share exactly when they are equal.
 * `undefined` for null, arrays and other objects.
 */
export function scalar(raw: string): { kind: Scalar; text: string } | undefined {
  const value = unwrap(raw);
  switch (value[0]) {
    case '"':
      return { kind: 'string', text: JSON.stringify(JSON.parse(value)) };
    case 't':
    case 'f':
      return { kind: 'boolean', text: value };
    case 'n':
    case '[':
    case '{':
      return undefined;
    default: {
      const text = normalNumber(value);
      return { kind: text.includes('e-') ? 'number' : 'integer', text };
    }
  }
}

/** Two property values are equal, however they are written or wrapped. */
export const isSame = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && (a === b || (scalar(a)?.text ?? a) === (scalar(b)?.text ?? b));
