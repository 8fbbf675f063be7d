import { isUtf8 } from 'node:buffer';
import { randomInt } from 'node:crypto';
import {
  backslash,
  comma,
  type Elements,
  FoundJson,
  goOn,
  type Json,
  type JsonLimits,
  type Keys,
  MalformedJson,
  type Member,
  openBracket,
  Pass,
  pastBlanks,
  quote,
} from './jsonReader.ts';

export { type Elements, type Json, type Keys, MalformedJson } from './jsonReader.ts';

/** Deepest nesting of arrays and objects in bodies of devices and in object models (R5). */
export const maxJsonDepth = 128;

export const bodyLimits: JsonLimits = { depth: maxJsonDepth };
/** Answers of backends hold models in a list. */
export const answerLimits: JsonLimits = { depth: maxJsonDepth + 2 };

/** The parsed text; undefined when it is no JSON. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A copy with a zero byte behind it: V8 deoptimises what reads past the end of a buffer. */
export function terminated(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafe(bytes.byteLength + 1);
  copy.set(bytes);
  copy[bytes.byteLength] = 0;
  return copy;
}

/** Reads strict UTF-8 without a byte order mark, with a zero byte behind it, within the limits (R5, R6). @throws MalformedJson */
export function readTerminated(text: Buffer, keys: Keys = allKeys, limits: JsonLimits = bodyLimits): Json {
  const json = checked(text);
  goOn(new Pass(json, keys, limits));
  return json;
}

function checked(text: Buffer): FoundJson {
  const end = text.byteLength - 1;
  if (end === 0) throw new MalformedJson('is empty, expected JSON');
  if (!isUtf8(text)) throw new MalformedJson('is not valid UTF-8');
  if (text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf)
    throw new MalformedJson('begins with a byte order mark');
  return new FoundJson(text, 0, end);
}

/** The same for bytes without a zero byte. */
export const readJson = (bytes: Uint8Array, keys?: Keys, limits?: JsonLimits): Json =>
  readTerminated(terminated(bytes), keys, limits);

/** The same for a decoded text. */
export const parseJson = (text: string, keys?: Keys, limits?: JsonLimits): Json =>
  readJson(Buffer.from(text), keys, limits);

/**
 * Reads in slices of about so many bytes, in one pass; undefined until all has been read. Elements are taken as it comes to them.
 * @param keys of the outermost object to find, with that of `elements`
 * @throws MalformedJson, also later; TypeError when the member of the elements is no array
 */
export function answerReader(answer: Uint8Array, keys: Keys, elements?: Elements): (slice: number) => Json | undefined {
  const json = checked(terminated(answer));
  const pass = passWith(json, keys, elements);
  return (slice) => (goOn(pass, pass.at + slice) ? json : undefined);
}

/** A pass that may pause, or calls somebody who passes, too. */
const passWith = (json: FoundJson, keys: Keys, elements: Elements | undefined) =>
  Object.assign(new Pass(json, keys, answerLimits), { elements, closings: [0] });

/** In bytes. */
export const sizeOf = ({ start, end }: Json): number => end - start;

/** One outermost member; undefined when it is missing. */
export function memberOf(json: Json, key: string, keys = allKeys, limits = answerLimits): Json | undefined {
  const member = leafOf(json, key);
  if (member) goOn(new Pass(member, keys, limits));
  return member;
}

/** The same for a member of which only the text and its value are asked for: it is not passed once more. */
export function leafOf({ bytes, members }: Json, key: string): FoundJson | undefined {
  const member = members.get(key);
  return member && new FoundJson(bytes, member.start, member.end);
}

export const textIn = (json: Json, key: string): string | undefined => leafOf(json, key)?.text;

/** The value of one outermost member; undefined when it is missing. Only for small members. */
export const valueIn = (json: Json, key: string): unknown => leafOf(json, key)?.value;

export const isText = ({ members, bytes, end }: Json, key: string): boolean =>
  bytes[members.get(key)?.start ?? end] === quote; // no quote follows a value

/** Whether a member that is a text is one of these. */
export const isOneOf = ({ bytes }: Json, { start, end }: Member, texts: Keys): boolean =>
  texts(bytes, start + 1, end - 1) !== undefined;

/** Largest member of a device's body that the service reads: enough for a list of names. */
const mostValuesRead = 1_001;
const mostBytesRead = 65_536;

/** Why a member is too large to read; undefined when it is not. */
export function tooLargeReason(member?: Member): string | undefined {
  const { values, start, end } = member ?? { values: 0, start: 0, end: 0 };
  if (values > mostValuesRead) return `has more than ${mostValuesRead - 1} values`;
  return end - start > mostBytesRead ? `has more than ${mostBytesRead} bytes` : undefined;
}

/** The values of some outermost members of a device's text, without missing and too large ones. */
export function pickSmall<Key extends string>(json: Json, keys: readonly Key[]): Partial<Record<Key, unknown>> {
  const isSmall = (key: Key) => tooLargeReason(json.members.get(key)) === undefined;
  return pick(json, keys.filter(isSmall));
}

/** The values of some outermost members, without missing ones. */
export function pick<Key extends string>(json: Json, keys: readonly Key[]): Partial<Record<Key, unknown>> {
  const values: Partial<Record<Key, unknown>> = {};
  for (const key of keys) if (json.members.has(key)) values[key] = valueIn(json, key);
  return values;
}

/** The text with one outermost member set to `valueText`; nothing else changes (R5). A new member becomes the first. */
export function withMember(json: Json, key: string, valueText: string): string {
  const { bytes, start, end, members, size } = json;
  const slice = (from: number, to: number) => bytes.toString('utf8', from, to);
  const member = members.get(key);
  if (member) return slice(start, member.start) + valueText + slice(member.end, end);
  const open = bytes.indexOf('{', start) + 1;
  return `${slice(start, open)}${JSON.stringify(key)}:${valueText}${size === 0 ? '' : ','}${slice(open, end)}`;
}

/** The text of an array in which parts of its elements are replaced; nothing else changes (R5). Any other text is as it was. */
export function withReplaced(
  json: Json,
  keys: Keys,
  replacement: (element: Json) => { readonly part: Json; readonly text: string } | undefined,
): string {
  if (json.bytes[pastBlanks(json.bytes, json.start)] !== openBracket) return json.text;
  const bytes = Buffer.concat([Buffer.from('{"":'), bytesOf(json), Buffer.from('}\0')]);
  const parts: string[] = [];
  let at = 4;
  const elements: Elements = {
    ...{ key: '', keys },
    take(element) {
      const { part, text = '' } = replacement(element) ?? {};
      if (part === undefined) return;
      parts.push(bytes.toString('utf8', at, part.start), text);
      at = part.end;
    },
  };
  goOn(passWith(new FoundJson(bytes, 0, bytes.length - 1), allKeys, elements));
  return parts.length === 0 ? json.text : `${parts.join('')}${bytes.toString('utf8', at, bytes.length - 2)}`;
}

export const bytesOf = ({ bytes, start, end }: Json): Buffer => bytes.subarray(start, end);

/** The bytes of the text without one outermost member and its comma; nothing else changes (R5). */
export function withoutMember(json: Json, key: string): Buffer {
  const { bytes, start, end } = json;
  const member = json.members.get(key);
  if (!member) return bytesOf(json);
  let [from, to] = [member.key, pastBlanks(bytes, member.end)];
  if (bytes[to] === comma) to = pastBlanks(bytes, to + 1);
  else {
    to = member.end;
    const before = bytes.lastIndexOf(comma, from);
    if (pastBlanks(bytes, before + 1) === from) from = before;
  }
  return Buffer.concat([bytes.subarray(start, from), bytes.subarray(to, end)]);
}

type Name = { readonly name: string; readonly bytes: Buffer; readonly next: Name | undefined };

/** The names as keys to find: a key costs as much among hundreds of names as among two, and no text is made of it. */
export function keysOf(names: Iterable<string>): Keys {
  const wanted = new Set(names);
  const unused = Math.clz32(4 * wanted.size + 3) - 2;
  const places = new Array<Name | undefined>(2 ** (30 - unused)).fill(undefined);
  let longest = 0;
  for (const name of wanted) {
    const bytes = Buffer.from(name);
    longest = Math.max(longest, bytes.length);
    const hash = hashOf(bytes, 0, bytes.length);
    if (hash < 0 || !name.isWellFormed()) continue; // written with escapes only
    const place = hash >> unused;
    places[place] = { name, bytes, next: places[place] };
  }

  return (bytes, from, to) => {
    const hash = hashOf(bytes, from, to);
    if (hash < 0) {
      const name = to - from > mostEscaped * longest ? undefined : allKeys(bytes, from, to);
      return name !== undefined && wanted.has(name) ? name : undefined;
    }
    for (let one = places[hash >> unused]; one !== undefined; one = one.next)
      if (isAt(one.bytes, bytes, from, to)) return one.name;
    return undefined;
  };
}

/** Bytes in which one byte of a key can be written: `\u0061`. */
const mostEscaped = 6;

/** Unknown to those who choose names and keys. */
const seed = randomInt(2 ** 31);

/** Thirty bits; less than 0 for a key with escapes. */
function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = seed;
  for (let at = from; at < to; at += 1) {
    const code = bytes[at] as number;
    if (code === backslash) return -1;
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  return hash >>> 2;
}

/** Faster than `Buffer.compare` for what is as short as a name. */
function isAt(name: Buffer, bytes: Buffer, from: number, to: number): boolean {
  if (name.length !== to - from) return false;
  for (let at = from; at < to; at += 1) if (bytes[at] !== name[at - from]) return false;
  return true;
}

export const allKeys: Keys = (bytes, from, to) => {
  const written = bytes.toString('utf8', from, to);
  return written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written;
};
