/*
 * Reads JSON text (RFC 8259) in one pass, which reads each byte once: checks its grammar and its limits, finds the wanted members of an object, and
 * builds no values.
 *
 *   value  = object / array / string / number / true / false / null       blank = space / tab / newline / return
 *   object = "{" [ string ":" value *( "," string ":" value ) ] "}"       array = "[" [ value *( "," value ) ] "]"
 *   number = ["-"] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ("e" / "E") ["+" / "-"] 1*digit ]
 */

/** Bounds on a JSON text: deepest nesting of arrays and objects; most values, where a few bytes may have become many (R6), any number when omitted. */
export type JsonLimits = { readonly depth: number; readonly values?: number };

/** The bytes are not a JSON text within the limits; the message is for developers of devices. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}

/** The cost of reading JSON so far: bytes and values that were passed, elements that were taken, characters that were parsed into values. */
export const effort = { characters: 0, values: 0, elements: 0, built: 0 };

/** The keys that a reader looks for: returns the one between two quotes, if it is one of them. Escapes are decoded: `"ty\u0070e"` is `"type"`. */
export type Keys = (bytes: Buffer, from: number, to: number) => string | undefined;

/** Offsets into the buffer: of the key's opening quote, of the value's start, and of the end after the value; the number of values, with itself. */
export type Member = Readonly<Record<'key' | 'start' | 'end' | 'values', number>>;

const none: ReadonlyMap<string, Member> = new Map();
const never: ReadonlySet<string> = new Set();

/** A JSON text as it arrived, or a part, to be passed on: `JSON.stringify` would lose 64-bit integers, `1.0`, `1e400` and the order of keys (R5). */
export type Json = Readonly<FoundJson>;

export class FoundJson {
  /** What has the text in it. All offsets are relative to it. */
  readonly bytes: Buffer;
  readonly start: number;
  end: number;
  /** Wanted members of the outermost object; empty for any other value. The last occurrence of a key counts. */
  members = none;
  /** Wanted keys that occur more than once in the outermost object. */
  twice = never;
  /** Number of members of the outermost object, wanted or not. */
  size = 0;
  private decoded: string | undefined = undefined;

  constructor(bytes: Buffer, start: number, end: number) {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
  }

  get isObject(): boolean {
    return this.bytes[pastBlanks(this.bytes, this.start)] === openBrace;
  }

  get text(): string {
    this.decoded ??= this.bytes.toString('utf8', this.start, this.end);
    return this.decoded;
  }

  /** The parsed text; only for small texts. */
  get value(): unknown {
    const { text } = this;
    effort.built += text.length;
    // without escapes it is most often a text of the length of a name
    return text.startsWith('"') && !text.includes('\\') ? text.slice(1, -1) : JSON.parse(text);
  }
}

/** An array in the outermost object whose elements are taken one by one, as the pass comes to them. */
export interface Elements {
  readonly key: string;
  readonly keys: Keys;
  /** What it throws ends the reading. */
  take(element: Json): void;
}

/** Closing brackets of passes that neither pause nor call anybody. */
const shared = [0];

/** A pass over one JSON value, as far as it has come. It can pause before any value that is in it. */
export class Pass {
  readonly limits: JsonLimits;
  elements: Elements | undefined = undefined;
  /** Offset of the next byte, and the number of values before it. */
  at: number;
  values = 0;
  /** Number of open arrays and objects; their closing brackets are in `closings`, from index 1. */
  depth = 0;
  closings = shared;
  /** In which object members are found, the outermost one or an element; how deep they are; which ones. */
  json: FoundJson;
  watched = 1;
  keys: Keys;
  /** The member whose value is being passed: its offsets, and the number of values before it. No member: `keyEnd` is 0. */
  key = 0;
  keyEnd = 0;
  start = 0;
  before = 0;
  /** While the elements are passed: what these fields were before the first one. */
  outer: Partial<Pass> | undefined = undefined;

  /** @param json where to read, and what is found; at least one byte stands behind it */
  constructor(json: FoundJson, keys: Keys, limits: JsonLimits) {
    this.limits = limits;
    this.at = json.start;
    this.json = json;
    this.keys = keys;
  }
}

/**
 * Whether all has been passed. @param until pauses before the first value from this offset on
 * @throws MalformedJson; TypeError when `elements` are in no array; what taking an element throws
 */
export function goOn(pass: Pass, until = pass.json.bytes.length): boolean {
  const { limits, closings } = pass;
  const { bytes } = pass.json;
  const { depth: deepest, values: most = bytes.length } = limits;
  let { at, values, depth, watched } = pass;
  let closing = closings[depth] as number;
  try {
    at = pastBlanks(bytes, at);
    for (;;) {
      if (at >= until) return false;
      if (depth < watched && pass.outer !== undefined) pass.json = new FoundJson(bytes, at, at);
      if (closing === closeBrace) {
        const key = at;
        if (bytes[key] !== quote) throw broken(bytes, key);
        const keyEnd = pastString(bytes, key);
        at = pastBlanks(bytes, keyEnd);
        if (bytes[at] !== colon) throw broken(bytes, at);
        at = pastBlanks(bytes, at + 1);
        if (depth === watched) {
          pass.key = key;
          pass.keyEnd = keyEnd;
          pass.start = at;
          pass.before = values;
          if (pass.elements !== undefined) beginElements(pass, pass.elements);
          watched = pass.watched;
        }
      }
      values += 1;
      if (values > most) throw new MalformedJson(`has more than ${most} values`);
      const first = bytes[at] as number;
      if (first === quote) at = pastString(bytes, at);
      else if (first <= digit9) at = pastNumber(bytes, at);
      else if (first === openBrace || first === openBracket) {
        if (depth === deepest) throw new MalformedJson(`is nested more than ${deepest} levels deep`);
        at = pastBlanks(bytes, at + 1);
        // the closing bracket is the opening one + 2 for both kinds
        if (bytes[at] === first + 2) at += 1;
        else {
          closing = first + 2;
          depth += 1;
          closings[depth] = closing;
          continue;
        }
      } else at = pastWord(bytes, at, first);

      for (;;) {
        if (depth <= watched) {
          if (depth === 0) {
            at = pastBlanks(bytes, at);
            if (at < pass.json.end) throw broken(bytes, at);
            return true;
          }
          endValue(pass, depth, at, values);
          watched = pass.watched;
        }
        at = pastBlanks(bytes, at);
        const next = bytes[at] as number;
        if (next === comma) break;
        if (next !== closing) throw broken(bytes, at);
        at += 1;
        depth -= 1;
        closing = closings[depth] as number;
      }
      at = pastBlanks(bytes, at + 1);
    }
  } finally {
    effort.characters += at - pass.at;
    effort.values += values - pass.values;
    pass.at = at;
    pass.values = values;
    pass.depth = depth;
  }
}

/** When the value of this member is their array, they are what is found from now on. */
function beginElements(pass: Pass, elements: Elements): void {
  const { json, keys, key, keyEnd, start, before, outer } = pass;
  if (outer !== undefined || keys(json.bytes, key + 1, keyEnd - 1) !== elements.key) return;
  if (json.bytes[start] !== openBracket) throw new TypeError('expected an array');
  pass.outer = { json, watched: 1, keys, key, keyEnd, start, before, outer };
  pass.watched = 3;
  pass.keys = elements.keys;
  pass.keyEnd = 0;
}

function endValue(pass: Pass, depth: number, end: number, values: number): void {
  if (pass.outer !== undefined && depth === 2) {
    effort.elements += 1;
    pass.json.end = end;
    pass.elements?.take(pass.json);
    return;
  }
  if (pass.outer !== undefined && depth === 1) Object.assign(pass, pass.outer);
  const { json, keys, key, keyEnd, start, before } = pass;
  if (keyEnd === 0) return; // an element of another array
  pass.keyEnd = 0;
  json.size += 1;
  const name = keys(json.bytes, key + 1, keyEnd - 1);
  if (name === undefined) return;
  const members = json.members === none ? new Map<string, Member>() : (json.members as Map<string, Member>);
  if (members.has(name))
    json.twice = (json.twice === never ? new Set<string>() : (json.twice as Set<string>)).add(name);
  json.members = members.set(name, { key, start, end, values: values - before });
}

export const quote = 0x22;
export const comma = 0x2c;
const minus = 0x2d;
const digit0 = 0x30;
const digit9 = 0x39;
const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** By code: 1 for these characters. */
export const oneOf = (characters: string): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, code) => Number(characters.includes(String.fromCharCode(code))));

const blanks = oneOf(' \t\n\r');
const digits = oneOf('0123456789');
/** The value of each hexadecimal digit; 255 for other characters. */
export const hexValues = Uint8Array.from({ length: 256 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
);
const escapes = oneOf('"/\\bfnrt');
/** What stands for itself inside a string. */
const plain = Uint8Array.from({ length: 256 }, (_, code) => Number(code > 31 && code !== quote && code !== backslash));

/** Small, so that V8 inlines it: most often there are no blanks. */
export const pastBlanks = (bytes: Buffer, at: number): number =>
  (bytes[at] as number) > 0x20 ? at : pastSome(blanks, bytes, at);

function pastSome(these: Uint8Array, bytes: Buffer, from: number): number {
  let at = from;
  while (these[bytes[at] as number] === 1) at += 1;
  return at;
}

function pastString(bytes: Buffer, opening: number): number {
  for (let at = opening + 1; ; ) {
    while (plain[bytes[at] as number] === 1) at += 1;
    if (bytes[at] === quote) return at + 1;
    at = pastEscape(bytes, at);
  }
}

function pastEscape(bytes: Buffer, from: number): number {
  if (bytes[from] !== backslash) throw broken(bytes, from); // a control character, or past the end
  const at = from + 1;
  if (escapes[bytes[at] as number] === 1) return at + 1;
  if (bytes[at] !== letterU) throw broken(bytes, at);
  for (let digit = at + 1; digit <= at + 4; digit += 1)
    if ((hexValues[bytes[digit] as number] as number) > 15) throw broken(bytes, digit);
  return at + 5;
}

function pastNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === minus ? start + 1 : start;
  at = bytes[at] === digit0 ? at + 1 : pastDigits(bytes, at);
  if (bytes[at] === 0x2e) at = pastDigits(bytes, at + 1);
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    const sign = bytes[at + 1];
    at = pastDigits(bytes, sign === 0x2b || sign === minus ? at + 2 : at + 1);
  }
  return at;
}

function pastDigits(bytes: Buffer, from: number): number {
  if (digits[bytes[from] as number] !== 1) throw broken(bytes, from);
  return pastSome(digits, bytes, from + 1);
}

function pastWord(bytes: Buffer, at: number, first: number): number {
  const word = first === 0x74 ? 'true' : first === 0x66 ? 'false' : 'null';
  for (let index = 0; index < word.length; index += 1)
    if (bytes[at + index] !== word.charCodeAt(index)) throw broken(bytes, at + index);
  return at + word.length;
}

/** Does not quote the text, which may contain a secret. */
function broken(bytes: Buffer, at: number): MalformedJson {
  const where = at >= bytes.length - 1 ? ', it ends too early' : `, see character ${at + 1}`;
  return new MalformedJson(`is not well-formed JSON${where}`);
}
