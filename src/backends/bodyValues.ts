import { identifyingLength } from '../text/secretPieces.ts';

/** A value is recognised by its first characters, because a backend may shorten it. */
const recognisable = 24;

/** Characters of a value that are compared: no text that is shown has more, escaped or not. */
const mostCompared = 12_000;

/**
 * Marks in `covered` the characters of a backend's text that are values of the request's body. Long values are covered
 * anywhere and short ones only in quotation marks: `1` is too common in ordinary text.
 *
 * A body has tens of thousands of values, and most of them begin with a character with which nothing in the text begins.
 * @param body JSON
 */
export function coverValues(words: string, body: string, covered: Uint8Array): void {
  if (body === '' || words === '') return;
  const quotations = quotationsIn(words);
  const parts = new Set<string>();
  for (let at = 0; at + identifyingLength <= words.length; at += 1) parts.add(words.slice(at, at + identifyingLength));
  const firsts = new FirstCharacters();
  for (const part of parts) firsts.add(part);
  for (const quoted of quotations.keys()) firsts.add(quoted);
  eachValue(body, firsts, (value) => {
    if (value.length >= identifyingLength) {
      if (parts.has(value.slice(0, identifyingLength))) coverValue(words, value, covered);
    } else {
      for (const at of quotations.get(value) ?? []) covered.fill(1, at, at + value.length);
      quotations.delete(value);
    }
  });
}

/** First characters of texts; some others pass as well. */
class FirstCharacters {
  readonly #bytes = new Uint8Array(256);
  add(text: string): void {
    this.#bytes[text.charCodeAt(0) & 255] = 1;
  }
  has(code: number): boolean {
    return this.#bytes[code & 255] === 1;
  }
}

function coverValue(words: string, value: string, covered: Uint8Array): void {
  const beginning = value.slice(0, recognisable);
  for (let at = words.indexOf(beginning); at >= 0; ) {
    let length = beginning.length;
    while (length < value.length && words[at + length] === value[length] && at + length < words.length) length += 1;
    covered.fill(1, at, at + length);
    at = words.indexOf(beginning, at + length);
  }
}

/** Short texts in quotation marks, with their offsets. */
function quotationsIn(words: string): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { 1: quoted = '', index } of words.matchAll(/["'`“‘„«]([^"'`“”‘’„«»]{1,7})(?=["'`”’“»])/g)) {
    found.set(quoted, [...(found.get(quoted) ?? []), index + 1]);
  }
  return found;
}

/** The strings and numbers of the body, without keys, that may begin as something in the text does. */
function eachValue(body: string, firsts: FirstCharacters, take: (value: string) => void): void {
  for (let at = 0; at < body.length; ) {
    const code = body.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(body, at + 1);
      if (firsts.has(firstOf(body, at + 1)) && !isKey(body, end + 1)) {
        take(unescaped(body.slice(at + 1, Math.min(end, at + 1 + mostCompared))));
      }
      at = end + 1;
    } else if (isDigit(code) || code === minus) {
      const end = endOfNumber(body, at + 1);
      if (firsts.has(code)) take(body.slice(at, end));
      at = end;
    } else at += 1;
  }
}

const quote = 0x22;
const colon = 0x3a;
const minus = 0x2d;
const backslash = 0x5c;
const space = 0x20;

/** @returns the offset of the closing quote, or the end of the body */
function endOfString(body: string, from: number): number {
  for (let at = from; at < body.length; at += 1) {
    const code = body.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at += 1;
  }
  return body.length;
}

function endOfNumber(body: string, from: number): number {
  let at = from;
  while (isOfNumber(body.charCodeAt(at))) at += 1;
  return at;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** A digit, a sign, the point or the exponent's letter. */
const isOfNumber = (code: number): boolean =>
  isDigit(code) || code === minus || code === 0x2b || code === 0x2e || code === 0x65 || code === 0x45;

/** Whether a colon follows. */
function isKey(body: string, from: number): boolean {
  let at = from;
  while (body.charCodeAt(at) <= space) at += 1;
  return body.charCodeAt(at) === colon;
}

/** The first character of a string, of which the escape is taken for what it means. */
function firstOf(body: string, at: number): number {
  const code = body.charCodeAt(at);
  if (code !== backslash) return code;
  const letter = body[at + 1] ?? '';
  if (letter === 'u') return Number.parseInt(body.slice(at + 2, at + 6), 16);
  return (escapes[letter] ?? letter).charCodeAt(0);
}

const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(/\\(?:u([\da-fA-F]{4})|(.))/g, (_, code?: string, character = '') =>
        code === undefined ? (escapes[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
