import { madeOf, type SecretList } from '@device-messaging/telemetry/secrets.ts';
import { oneOf } from '../protocol/jsonReader.ts';

/** This many characters in a row identify a secret. Fewer could be an ordinary word. */
const identifyingLength = 8;

const mark = '…';

/** In lower case: short secrets as a whole, and every part of the long ones. */
function piecesOf(secrets: readonly string[]) {
  const whole: string[] = [];
  const parts = new Set<string>();
  for (const form of secrets.filter((secret) => secret !== '').flatMap(formsOf)) {
    if (form.length < identifyingLength) whole.push(form);
    for (let at = 0; at + identifyingLength <= form.length; at += 1) parts.add(form.slice(at, at + identifyingLength));
  }
  return { whole, parts };
}

/** A secret as plain text, percent-encoded, and in base64 of both alphabets, at any offset (as in `Basic` credentials). */
function formsOf(secret: string): string[] {
  const base64 = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    // Without the characters that depend on the bytes before and after the secret.
    const text = bytes.toString('base64').slice(before && before + 1, Math.floor((bytes.length * 4) / 3));
    return [text, text.replaceAll('+', '-').replaceAll('/', '_'), encodeURIComponent(text)];
  });
  const forms = [secret, encodeURIComponent(secret.toWellFormed()), ...base64];
  return [...new Set(forms.filter((form) => form !== '').map(lowerCase))];
}

/** Changes only ASCII letters, so that offsets stay the same. */
const lowerCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Marks in `covered` the characters that are of a secret, whole or cut. */
function coverSecrets(words: string, { whole, parts }: ReturnType<typeof piecesOf>, covered: Uint8Array): void {
  const lower = lowerCase(words);
  for (const form of whole) {
    for (let at = lower.indexOf(form); at >= 0; at = lower.indexOf(form, at + 1)) covered.fill(1, at, at + form.length);
  }
  if (parts.size === 0) return;
  for (let at = 0; at + identifyingLength <= lower.length; at += 1)
    if (parts.has(lower.slice(at, at + identifyingLength))) covered.fill(1, at, at + identifyingLength);
}

/** The text with one mark for each covered part. */
function uncovered(words: string, covered: Uint8Array): string {
  if (!covered.includes(1)) return words;
  let text = '';
  for (let at = 0; at < words.length; at += 1) {
    if (!covered[at]) text += words[at];
    else if (!covered[at - 1]) text += mark;
  }
  return text;
}

/** Covers the known secrets in texts, and the token of a call. @param also covers more */
export function createCover(secrets: SecretList, isTelling = (_secret: string) => true) {
  const ofSecrets = (list: readonly string[]) => piecesOf(list.filter(isTelling));
  const own = madeOf(secrets, ofSecrets);
  /** Of the last call: the next one mostly has the same. */
  let ofCall = { token: '', pieces: piecesOf([]) };

  return (words: string, token = '', also?: (covered: Uint8Array) => void): string => {
    const covered = new Uint8Array(words.length);
    coverSecrets(words, own(), covered);
    if (token !== ofCall.token) ofCall = { token, pieces: ofSecrets([token]) };
    coverSecrets(words, ofCall.pieces, covered);
    also?.(covered);
    return uncovered(words, covered);
  };
}

/**
 * Removes our secrets and values of the request's body from a backend's text (result codes, G5).
 * @param token of the request
 * @param body of the request, JSON
 * @param most characters that are of use; by default as many as one refusal has
 */
export type Redact = (words: string, token: string, body?: string, most?: number) => string;

/** Longer texts are cut: 300 characters are shown, and what is taken out leaves a mark. */
const maxWords = 450;

export function createRedaction(secrets: SecretList): Redact {
  const cover = createCover(secrets);

  return (given, token, body = '', most = maxWords) => {
    if (given === '') return '';
    const words = given.slice(0, most);
    return cover(words, token, body === '' ? undefined : (covered) => coverValues(words, body, covered));
  };
}

/** A value is recognised by its first characters, because a backend may shorten it. */
const recognisable = 24;

const inString = /[^"\\]*(?:\\.[^"\\]*)*/y;
const colon = /\s*:/y;
const ofNumber = oneOf('+-.0123456789Ee');

/**
 * Marks in `covered` what are values of the request's body: long ones anywhere, short ones only in quotation marks: `1` is too common.
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
