import { madeOf, type SecretList } from 'telemetry/secretList.ts';
import { coverSecrets, identifyingLength, piecesOf, uncovered } from './secretPieces.ts';

/**
 * Removes from a backend's text what must not be passed on (result codes, G5): our secrets, and values of the request's
 * body.
 * @param token of the request
 * @param body of the request, JSON
 * @param most characters that are of use; by default as many as one refusal has
 */
export type Redact = (words: string, token: string, body?: string, most?: number) => string;

/** Longer texts are cut: 300 characters are shown, and what is taken out leaves a mark. */
const maxWords = 450;

/** @param secrets that a backend could know */
export function createRedaction(secrets: SecretList): Redact {
  const own = madeOf(secrets, piecesOf);
  /** Of the last call: the next one mostly has the same. */
  let ofCall = { token: '', pieces: piecesOf([]) };

  return (given, token, body = '', most = maxWords) => {
    if (given === '') return '';
    const words = given.slice(0, most);
    const covered = new Uint8Array(words.length);
    coverSecrets(words, own(), covered);
    if (token !== ofCall.token) ofCall = { token, pieces: piecesOf([token]) };
    coverSecrets(words, ofCall.pieces, covered);
    if (body !== '') coverValues(words, body, covered);
    return uncovered(words, covered);
  };
}

/** A value is recognised by its first characters, because a backend may shorten it. */
const recognisable = 24;

const inString = /[^"\\]*(?:\\.[^"\\]*)*/y;
const colon = /\s*:/y;
const ofNumber = Uint8Array.from({ length: 128 }, (_, code) =>
  Number('+-.0123456789Ee'.includes(String.fromCharCode(code))),
);

/**
 * Marks in `covered` the characters of a backend's text that are values of the request's body. Long values are covered
 * anywhere and short ones only in quotation marks: `1` is too common in ordinary text.
 *
 * A body has tens of thousands of values, and most of them begin with a character with which nothing in the text begins.
 */
function coverValues(words: string, body: string, covered: Uint8Array): void {
  const quotations = quotationsIn(words);
  const parts = new Set<string>();
  for (let at = 0; at + identifyingLength <= words.length; at += 1) parts.add(words.slice(at, at + identifyingLength));
  /** By the last byte of their code, so that some others pass as well; an escape may mean any. */
  const firsts = new Uint8Array(256);
  for (const text of ['\\', ...parts, ...quotations.keys()]) firsts[text.charCodeAt(0) & 255] = 1;

  function cover(value: string) {
    if (value.length >= identifyingLength) {
      if (parts.has(value.slice(0, identifyingLength))) coverValue(words, value, covered);
    } else {
      for (const at of quotations.get(value) ?? []) covered.fill(1, at, at + value.length);
      quotations.delete(value);
    }
  }

  for (let at = 0; at < body.length; at += 1) {
    const code = body.charCodeAt(at);
    if (code === 0x22) {
      const from = at + 1;
      at = past(inString, body, from);
      const mayBeKnown = firsts[body.charCodeAt(from) & 255] === 1;
      if (mayBeKnown && past(colon, body, at + 1) === 0) cover(unescaped(body.slice(from, at)));
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const from = at;
      while (ofNumber[body.charCodeAt(at + 1)] === 1) at += 1;
      if (firsts[code] === 1) cover(body.slice(from, at + 1));
    }
  }
}

const unescaped = (text: string): string => (text.includes('\\') ? JSON.parse(`"${text}"`) : text);

/** Where ends what the pattern finds there; 0 when it finds nothing. */
function past(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(text);
  return pattern.lastIndex;
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
    const known = found.get(quoted);
    if (known === undefined) found.set(quoted, [index + 1]);
    else known.push(index + 1);
  }
  return found;
}
