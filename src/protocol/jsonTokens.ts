import { MalformedJson } from './jsonLimits.ts';

/** The tokens of JSON text (RFC 8259): each function passes one, and returns the offset behind it. Bytes are UTF-8, with at least one byte after the text. */

const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
export const quote = 0x22;
const plus = 0x2b;
export const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const digit0 = 0x30;
export const digit9 = 0x39;
const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
const letterU = 0x75;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

export function pastKey(bytes: Buffer, from: number): number {
  if (bytes[from] !== quote) throw broken(bytes, from);
  return pastString(bytes, from);
}

/** @returns the offset of the member's value */
export function pastColon(bytes: Buffer, from: number): number {
  const at = pastBlanks(bytes, from);
  if (bytes[at] !== colon) throw broken(bytes, at);
  return pastBlanks(bytes, at + 1);
}

/** Small, so that V8 inlines it: most often there are no blanks. */
export const pastBlanks = (bytes: Buffer, at: number): number =>
  (bytes[at] as number) > space ? at : pastSomeBlanks(bytes, at);

function pastSomeBlanks(bytes: Buffer, from: number): number {
  let at = from;
  for (let code = bytes[at] as number; code <= space; code = bytes[at] as number) {
    if (code !== space && code !== newline && code !== carriageReturn && code !== tab) break;
    at += 1;
  }
  return at;
}

/** For each byte, whether it stands for itself inside a string. */
const isPlain = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= space && code !== quote && code !== backslash ? 1 : 0,
);

/** @param opening offset of the opening quote */
export function pastString(bytes: Buffer, opening: number): number {
  for (let at = opening + 1; ; ) {
    while (isPlain[bytes[at] as number] === 1) at += 1;
    if (bytes[at] === quote) return at + 1;
    at = pastEscape(bytes, at);
  }
}

function pastEscape(bytes: Buffer, from: number): number {
  if (bytes[from] !== backslash) throw broken(bytes, from); // a control character, or past the end
  let at = from + 1;
  const letter = bytes[at] as number;
  if (letter === letterU) {
    for (let last = at + 4; at < last; ) {
      at += 1;
      if (!isHexDigit(bytes[at] as number)) throw broken(bytes, at);
    }
  } else if (!isEscape(letter)) throw broken(bytes, at);
  return at + 1;
}

/** `"` `/` `\` `b` `f` `n` `r` `t` */
const isEscape = (code: number): boolean =>
  code === quote ||
  code === 0x2f ||
  code === backslash ||
  code === 0x62 ||
  code === 0x66 ||
  code === 0x6e ||
  code === 0x72 ||
  code === 0x74;

const isDigit = (code: number): boolean => code >= digit0 && code <= digit9;

const isHexDigit = (code: number): boolean =>
  isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);

/* number = ["-"] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ("e" / "E") ["+" / "-"] 1*digit ] */
export function pastNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === minus ? start + 1 : start;
  at = bytes[at] === digit0 ? at + 1 : pastDigits(bytes, at);
  if (bytes[at] === dot) at = pastDigits(bytes, at + 1);
  const exponent = bytes[at];
  if (exponent === 0x65 || exponent === 0x45) {
    const sign = bytes[at + 1];
    at = pastDigits(bytes, sign === plus || sign === minus ? at + 2 : at + 1);
  }
  return at;
}

function pastDigits(bytes: Buffer, from: number): number {
  if (!isDigit(bytes[from] as number)) throw broken(bytes, from);
  let at = from + 1;
  while (isDigit(bytes[at] as number)) at += 1;
  return at;
}

export function pastWord(bytes: Buffer, at: number, first: number): number {
  const word = first === 0x74 ? 'true' : first === 0x66 ? 'false' : first === 0x6e ? 'null' : undefined;
  if (word === undefined) throw broken(bytes, at);
  for (let index = 1; index < word.length; index += 1) {
    if (bytes[at + index] !== word.charCodeAt(index)) throw broken(bytes, at + index);
  }
  return at + word.length;
}

/** Does not quote the text, which may contain a secret. */
export function broken(bytes: Buffer, at: number): MalformedJson {
  const where = at >= bytes.length - 1 ? ', it ends too early' : `, see character ${at + 1}`;
  return new MalformedJson(`is not well-formed JSON${where}`);
}
