import type { Keys } from './jsonKeys.ts';

/** Bounds on a JSON text (R5, R6). */
export interface JsonLimits {
  /** Deepest nesting of arrays and objects, at most 128. */
  readonly depth: number;
  /** Number of values: members, elements and the outermost value. */
  readonly values: number;
  /** Number of members of the outermost object. */
  readonly members: number;
  /** Characters of a key, including escapes. */
  readonly keyLength: number;
  /** Characters of a number. */
  readonly numberLength: number;
}

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

/** The bytes are not a JSON text within the limits; the message is for developers of devices. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}

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
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** For each open array or object, whether it is an object. It is shared because passes do not nest. */
const isObject = new Uint8Array(128);

const none: ReadonlyMap<string, Member> = new Map();
const never: ReadonlySet<string> = new Set();

/** Limits only the nesting: for backend responses, whose size is limited elsewhere. */
export const trusted = (depth: number): JsonLimits => ({
  depth,
  values: Number.POSITIVE_INFINITY,
  members: Number.POSITIVE_INFINITY,
  keyLength: Number.POSITIVE_INFINITY,
  numberLength: Number.POSITIVE_INFINITY,
});

/**
 * Checks the grammar of a JSON text (RFC 8259) and its limits, and finds the wanted members of the outermost object, in one
 * pass that reads each byte once and builds no values.
 *
 *   value  = object / array / string / number / true / false / null       blank = space / tab / newline / return
 *   object = "{" [ string ":" value *( "," string ":" value ) ] "}"       array = "[" [ value *( "," value ) ] "]"
 *
 * @param bytes UTF-8, with at least one byte after the text
 * @param keys the wanted keys; undefined for none
 * @throws MalformedJson
 */
export function scan(bytes: Buffer, start: number, end: number, keys: Keys | undefined, limits: JsonLimits): Scanned {
  const { depth: maxDepth, values: maxValues, members: maxMembers, keyLength, numberLength } = limits;
  let members: Map<string, { -readonly [Key in keyof Member]: Member[Key] }> | undefined;
  let twice: Set<string> | undefined;
  let size = 0;
  let values = 0;
  let depth = 0;
  let at = start;
  /** The outermost member that is being read: its name if it is wanted, and the offsets of its key and value. */
  let name: string | undefined;
  let keyAt = 0;
  let valueAt = 0;
  let valuesBefore = 0;

  try {
    for (;;) {
      at = pastBlanks(bytes, at);
      if (depth === 1) {
        valueAt = at;
        valuesBefore = values;
      }
      values += 1;
      if (values > maxValues) throw new MalformedJson(`has more than ${maxValues} values`);
      const first = bytes[at] as number;
      let isOpen = false;
      if (first === quote) at = pastString(bytes, at);
      else if (first === openBrace || first === openBracket) {
        if (depth === maxDepth) throw new MalformedJson(`is nested more than ${maxDepth} levels deep`);
        isObject[depth] = first === openBrace ? 1 : 0;
        depth += 1;
        at = pastBlanks(bytes, at + 1);
        isOpen = (bytes[at] as number) !== first + 2; // the closing bracket is the opening one + 2 for both kinds
        if (!isOpen) {
          at += 1;
          depth -= 1;
        } else if (first === openBracket) continue;
      } else if (first === minus || (first >= digit0 && first <= digit9)) at = pastNumber(bytes, at, numberLength);
      else at = pastWord(bytes, at, first);

      while (!isOpen) {
        if (depth === 1 && name !== undefined) {
          const count = values - valuesBefore;
          const known = members?.get(name);
          if (known === undefined) {
            members ??= new Map();
            members.set(name, { key: keyAt, start: valueAt, end: at, values: count });
          } else {
            if (!twice?.has(name)) {
              twice ??= new Set();
              twice.add(name);
            }
            known.key = keyAt; // changed in place, so that a repeated key allocates nothing
            known.start = valueAt;
            known.end = at;
            known.values = count;
          }
          name = undefined;
        }
        at = pastBlanks(bytes, at);
        if (depth === 0) {
          if (at < end) throw broken(bytes, at);
          return { members: members ?? none, twice: twice ?? never, size };
        }
        const next = bytes[at] as number;
        const inObject = isObject[depth - 1] === 1;
        if (next === comma) {
          at += 1;
          isOpen = true;
          if (inObject) at = pastBlanks(bytes, at);
        } else if (next === (inObject ? closeBrace : closeBracket)) {
          at += 1;
          depth -= 1;
        } else throw broken(bytes, at);
      }

      if (isObject[depth - 1] === 1) {
        if ((bytes[at] as number) !== quote) throw broken(bytes, at);
        const start = at;
        at = pastString(bytes, at);
        if (at - start - 2 > keyLength) {
          throw new MalformedJson(`has a key of more than ${keyLength} characters, see character ${start + 1}`);
        }
        if (depth === 1) {
          size += 1;
          if (size > maxMembers) throw new MalformedJson(`has more than ${maxMembers} members`);
          keyAt = start;
          name = keys?.find(bytes, start + 1, at - 1);
        }
        at = pastBlanks(bytes, at);
        if ((bytes[at] as number) !== colon) throw broken(bytes, at);
        at += 1;
      }
    }
  } finally {
    effort.characters += at - start;
    effort.values += values;
  }
}

function pastBlanks(bytes: Buffer, from: number): number {
  let at = from;
  for (let code = bytes[at] as number; code <= space; code = bytes[at] as number) {
    if (code !== space && code !== newline && code !== carriageReturn && code !== tab) break;
    at += 1;
  }
  return at;
}

/** @param opening offset of the opening quote */
function pastString(bytes: Buffer, opening: number): number {
  for (let at = opening + 1; ; at += 1) {
    const code = bytes[at] as number;
    if (code === quote) return at + 1;
    if (code === backslash) {
      at += 1;
      const letter = bytes[at] as number;
      if (letter === 0x75) {
        for (let last = at + 4; at < last; ) {
          at += 1;
          if (!isHexDigit(bytes[at] as number)) throw broken(bytes, at);
        }
      } else if (!isEscape(letter)) throw broken(bytes, at);
    } else if (!(code >= space)) throw broken(bytes, at); // a control character, or past the end
  }
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
