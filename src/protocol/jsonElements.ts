import { type Json, jsonAt } from './json.ts';
import { allKeys, type Keys } from './jsonKeys.ts';

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The elements of a JSON array, each with its own text (R5). */
export function elementsOf({ place: { bytes, start, end } }: Json, keys: Keys = allKeys): Json[] {
  const elements: Json[] = [];
  let at = pastBlanks(bytes, start);
  if (bytes[at] !== openBracket) throw new TypeError('expected an array');
  at = pastBlanks(bytes, at + 1);
  if (bytes[at] === closeBracket) return elements;
  let depth = 0;
  let from = at;
  for (; at < end; at += 1) {
    const code = bytes[at];
    if (code === quote) at = closingQuote(bytes, at);
    else if (code === openBrace || code === openBracket) depth += 1;
    else if (depth === 0 && (code === comma || code === closeBracket)) {
      elements.push(jsonAt(bytes, from, withoutBlanks(bytes, at), keys));
      from = pastBlanks(bytes, at + 1);
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
  }
  return elements;
}

function pastBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at])) at += 1;
  return at;
}

function withoutBlanks(bytes: Buffer, end: number): number {
  let at = end;
  while (isBlank(bytes[at - 1])) at -= 1;
  return at;
}

const isBlank = (code: number | undefined): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

function closingQuote(bytes: Buffer, opening: number): number {
  let at = opening + 1;
  while (bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
