import type { Keys } from './jsonKeys.ts';
import { type JsonLimits, MalformedJson } from './jsonLimits.ts';

/** Offsets into the text: of the key's opening quote, of the value's start, and of the end after the value. */
export interface Member {
  readonly key: number;
  readonly start: number;
  readonly end: number;
  /** Number of values, including itself. */
  readonly values: number;
}

/** The result of `scan`. */
export interface Scanned {
  /** Wanted members of the outermost object; empty for any other value. The last occurrence of a key counts. */
  readonly members: ReadonlyMap<string, Member>;
  /** Wanted keys that occur more than once in the outermost object. */
  readonly twice: ReadonlySet<string>;
  /** Number of members of the outermost object, wanted or not. */
  readonly size: number;
}

/**
 * The cost of reading JSON since the start of the process: bytes and values that `scan` has passed, and characters of texts
 * that were parsed into values.
 */
export const effort = { characters: 0, values: 0, built: 0 };

const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const digit0 = 0x30;
const digit9 = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** How far a pass over a text has come, also when it ends with an error. */
interface Progress {
  /** Offset of the next byte. */
  at: number;
  /** Number of values so far. */
  values: number;
}

/** For each open array or object, whether it is an object. It is shared because passes do not nest. */
const isObject = new Uint8Array(129);

const none: ReadonlyMap<string, Member> = new Map();
const never: ReadonlySet<string> = new Set();
const noMembers: Scanned = { members: none, twice: never, size: 0 };

/**
 * Checks the grammar of a JSON text (RFC 8259) and its limits, and finds the wanted members of the outermost object, in one
 * pass that reads each byte once and builds no values.
 *
 *   value  = object / array / string / number / true / false / null       blank = space / tab / newline / return
 *   object = "{" [ string ":" value *( "," string ":" value ) ] "}"       array = "[" [ value *( "," value ) ] "]"
 *
 * @param bytes UTF-8, with at least one byte after the text
 * @param keys the wanted keys
 * @throws MalformedJson
 */
export function scan(bytes: Buffer, start: number, end: number, keys: Keys, limits: JsonLimits): Scanned {
  const progress: Progress = { at: pastBlanks(bytes, start), values: 0 };
  try {
    let scanned = noMembers;
    if (bytes[progress.at] === openBrace) scanned = passObject(bytes, progress, keys, limits);
    else passValue(bytes, progress, 0, limits);
    if (limits.untilRepeated && scanned.twice.size > 0) return scanned;
    progress.at = pastBlanks(bytes, progress.at);
    if (progress.at < end) throw broken(bytes, progress.at);
    return scanned;
  } finally {
    effort.characters += progress.at - start;
    effort.values += progress.values;
  }
}

type Found = { -readonly [Key in keyof Member]: Member[Key] };

function passObject(bytes: Buffer, progress: Progress, keys: Keys, limits: JsonLimits): Scanned {
  const { members: maxMembers, keyLength } = limits;
  let members: Map<string, Found> | undefined;
  let twice: Set<string> | undefined;
  let size = 0;
  progress.values += 1;
  progress.at = pastBlanks(bytes, progress.at + 1);
  let next = bytes[progress.at] === closeBrace ? closeBrace : comma;
  while (next === comma) {
    const key = progress.at;
    const keyEnd = pastKey(bytes, key, keyLength);
    size += 1;
    if (size > maxMembers) throw new MalformedJson(`has more than ${maxMembers} members`);
    const name = keys.find(bytes, key + 1, keyEnd - 1);
    const start = pastColon(bytes, keyEnd);
    const before = progress.values;
    progress.at = start;
    passValue(bytes, progress, 1, limits);
    const { at: end } = progress;
    if (name !== undefined) {
      const values = progress.values - before;
      const known = members?.get(name);
      if (known === undefined) {
        members ??= new Map();
        members.set(name, { key, start, end, values });
      } else {
        if (!twice?.has(name)) {
          twice ??= new Set();
          twice.add(name);
          if (limits.untilRepeated) return { members: members as Map<string, Found>, twice, size };
        }
        known.key = key; // changed in place, so that a repeated key allocates nothing
        known.start = start;
        known.end = end;
        known.values = values;
      }
    }
    const at = pastBlanks(bytes, end);
    next = bytes[at] as number;
    progress.at = next === comma ? pastBlanks(bytes, at + 1) : at;
  }
  if (next !== closeBrace) throw broken(bytes, progress.at);
  progress.at += 1;
  return { members: members ?? none, twice: twice ?? never, size };
}

/**
 * Passes a value, and everything in it. This loop reads most of the bytes of a device's body, so that it knows nothing of
 * the members that somebody looks for.
 * @param outer the number of arrays and objects around the value
 * @throws MalformedJson
 */
function passValue(bytes: Buffer, progress: Progress, outer: number, limits: JsonLimits): void {
  const { depth: maxDepth, values: maxValues, keyLength, numberLength } = limits;
  let { at, values } = progress;
  let depth = outer;
  let inObject = false;
  try {
    for (;;) {
      if (inObject) at = pastColon(bytes, pastKey(bytes, at, keyLength));
      values += 1;
      if (values > maxValues) throw new MalformedJson(`has more than ${maxValues} values`);
      const first = bytes[at] as number;
      if (first === quote) at = pastString(bytes, at);
      else if (first <= digit9) at = pastNumber(bytes, at, numberLength);
      else if (first === openBrace || first === openBracket) {
        if (depth === maxDepth) throw new MalformedJson(`is nested more than ${maxDepth} levels deep`);
        at = pastBlanks(bytes, at + 1);
        // the closing bracket is the opening one + 2 for both kinds
        if (bytes[at] === first + 2) at += 1;
        else {
          depth += 1;
          inObject = first === openBrace;
          isObject[depth] = inObject ? 1 : 0;
          continue;
        }
      } else at = pastWord(bytes, at, first);

      while (depth > outer) {
        at = pastBlanks(bytes, at);
        const next = bytes[at] as number;
        if (next === comma) break;
        if (next !== (inObject ? closeBrace : closeBracket)) throw broken(bytes, at);
        at += 1;
        depth -= 1;
        inObject = isObject[depth] === 1;
      }
      if (depth === outer) return;
      at = pastBlanks(bytes, at + 1);
    }
  } finally {
    progress.at = at;
    progress.values = values;
  }
}

function pastKey(bytes: Buffer, from: number, maxLength: number): number {
  if (bytes[from] !== quote) throw broken(bytes, from);
  const at = pastString(bytes, from);
  if (at - from - 2 > maxLength) {
    throw new MalformedJson(`has a key of more than ${maxLength} characters, see character ${from + 1}`);
  }
  return at;
}

/** @returns the offset of the member's value */
function pastColon(bytes: Buffer, from: number): number {
  const at = pastBlanks(bytes, from);
  if (bytes[at] !== colon) throw broken(bytes, at);
  return pastBlanks(bytes, at + 1);
}

/** Small, so that V8 inlines it: most often there are no blanks. */
const pastBlanks = (bytes: Buffer, at: number): number =>
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
function pastString(bytes: Buffer, opening: number): number {
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
function pastNumber(bytes: Buffer, start: number, maxLength: number): number {
  const most = start + maxLength;
  let at = bytes[start] === minus ? start + 1 : start;
  at = bytes[at] === digit0 ? at + 1 : pastDigits(bytes, at, most);
  if (bytes[at] === dot) at = pastDigits(bytes, at + 1, most);
  const exponent = bytes[at];
  if (exponent === 0x65 || exponent === 0x45) {
    const sign = bytes[at + 1];
    at = pastDigits(bytes, sign === plus || sign === minus ? at + 2 : at + 1, most);
  }
  if (at > most) {
    throw new MalformedJson(`has a number of more than ${maxLength} characters, see character ${start + 1}`);
  }
  return at;
}

/** @param most the offset at which to stop */
function pastDigits(bytes: Buffer, from: number, most: number): number {
  if (!isDigit(bytes[from] as number)) throw broken(bytes, from);
  let at = from + 1;
  while (isDigit(bytes[at] as number) && at <= most) at += 1;
  return at;
}

function pastWord(bytes: Buffer, at: number, first: number): number {
  const word = first === 0x74 ? 'true' : first === 0x66 ? 'false' : first === 0x6e ? 'null' : undefined;
  if (word === undefined) throw broken(bytes, at);
  for (let index = 1; index < word.length; index += 1) {
    if (bytes[at + index] !== word.charCodeAt(index)) throw broken(bytes, at + index);
  }
  return at + word.length;
}

/** Does not quote the text, which may contain a secret. */
function broken(bytes: Buffer, at: number): MalformedJson {
  const where = at >= bytes.length - 1 ? ', it ends too early' : `, see character ${at + 1}`;
  return new MalformedJson(`is not well-formed JSON${where}`);
}
