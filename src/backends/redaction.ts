import { coverSecrets, piecesOf, telling, uncovered } from '../text/secretPieces.ts';

/**
 * Removes from a backend's text what must not be passed on (result codes, G5): our secrets, and values of the request's
 * body.
 * @param token of the request
 * @param body of the request, JSON
 */
export type Redact = (words: string, token: string, body?: string) => string;

/** Longer texts are cut: only their beginning is ever shown. */
const maxWords = 2_000;

/** A value is recognised by its first characters, because a backend may shorten it. */
const recognisable = 24;

/** @param secrets that a backend could know */
export function createRedaction(secrets: readonly string[]): Redact {
  const own = piecesOf(secrets);
  let used = { token: '', pieces: piecesOf([]) };

  return (given, token, body = '') => {
    const words = given.slice(0, maxWords);
    if (used.token !== token) used = { token, pieces: piecesOf([token]) };
    const covered = new Uint8Array(words.length);
    coverSecrets(words, own, covered);
    coverSecrets(words, used.pieces, covered);
    coverValues(words, body, covered);
    return uncovered(words, covered);
  };
}

/** Covers long values anywhere and short ones only in quotation marks: `1` is too common in ordinary text. */
function coverValues(words: string, body: string, covered: Uint8Array): void {
  if (body === '' || words === '') return;
  const quotations = quotationsIn(words);
  const parts = new Set<string>();
  for (let at = 0; at + telling <= words.length; at += 1) parts.add(words.slice(at, at + telling));
  for (const value of valuesIn(body)) {
    if (value.length >= telling) {
      if (parts.has(value.slice(0, telling))) coverValue(words, value, covered);
    } else {
      for (const at of quotations.get(value) ?? []) covered.fill(1, at, at + value.length);
      quotations.delete(value);
    }
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

/** The strings and numbers of the body, without keys, cut to the length that a text can quote. */
function* valuesIn(body: string): Generator<string> {
  for (const { 0: number, 1: text, 2: colon } of body.matchAll(/"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|-?\d[\d.eE+-]*/gs)) {
    if (colon === undefined) yield text === undefined ? number : unescaped(text.slice(0, maxWords * 6));
  }
}

const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(/\\(?:u([\da-fA-F]{4})|(.))/g, (_, code?: string, character = '') =>
        code === undefined ? (escapes[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
