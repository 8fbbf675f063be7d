import { isUtf8 } from 'node:buffer';
import { allKeys, type Keys } from './jsonKeys.ts';
import { deepest, type JsonLimits, MalformedJson } from './jsonLimits.ts';
import type { Member, Scanned } from './jsonPass.ts';
import { effort, scan } from './jsonScan.ts';
import { comma, openBrace, pastBlanks, quote } from './jsonTokens.ts';

export { MalformedJson } from './jsonLimits.ts';

/**
 * A JSON text as it arrived. The text itself is passed on: `JSON.stringify` would lose 64-bit integers, `1.0`, `1e400` and
 * the order of integer keys (R5). Values are built only on access.
 */
export interface Json extends Scanned {
  readonly text: string;
  /** The parsed text; only for small texts. */
  readonly value: unknown;
  readonly isObject: boolean;
  readonly place: TextRange;
}

/** The position of a text in a buffer. Offsets of members are also relative to the buffer. */
interface TextRange {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Deepest nesting of arrays and objects in bodies of devices and in object models (R5). */
export const maxJsonDepth = deepest - 2;

export const bodyLimits: JsonLimits = { depth: maxJsonDepth };

/** For backend responses. */
export const answerLimits: JsonLimits = { depth: deepest };

/** For an object in a text that is refused when a wanted key occurs twice there. */
export const untilRepeated: JsonLimits = { ...answerLimits, untilRepeated: true };

/** A copy with a zero byte behind it: V8 deoptimises `scan` when it reads past the end of a buffer. */
export function terminated(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafe(bytes.byteLength + 1);
  copy.set(bytes);
  copy[bytes.byteLength] = 0;
  return copy;
}

/**
 * Reads a JSON text: strict UTF-8, no byte order mark, within the limits (R5, R6).
 * @param text the bytes, and a zero byte behind them
 * @param keys the keys of the outermost object to find
 * @throws MalformedJson
 */
export function readTerminated(text: Buffer, keys: Keys = allKeys, limits: JsonLimits = bodyLimits): Json {
  return jsonAt(text, 0, checkedEnd(text), keys, limits);
}

/** @returns the end of the JSON text */
export function checkedEnd(text: Buffer): number {
  const end = text.byteLength - 1;
  if (end === 0) throw new MalformedJson('is empty, expected JSON');
  if (!isUtf8(text)) throw new MalformedJson('is not valid UTF-8');
  if (text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf)
    throw new MalformedJson('begins with a byte order mark');
  return end;
}

/** The same for bytes without a zero byte. */
export const readJson = (bytes: Uint8Array, keys?: Keys, limits?: JsonLimits): Json =>
  readTerminated(terminated(bytes), keys, limits);

/**
 * The same for a decoded text.
 * @throws MalformedJson
 */
export const parseJson = (text: string, keys?: Keys, limits?: JsonLimits): Json =>
  readJson(Buffer.from(text), keys, limits);

/** One outermost member; undefined when it is missing. */
export function memberOf(json: Json, key: string, keys: Keys = allKeys, limits?: JsonLimits): Json | undefined {
  const member = json.members.get(key);
  return member && jsonAt(json.place.bytes, member.start, member.end, keys, limits);
}

/** The same for a member of which only the text and its value are asked for: it is not passed once more. */
export function leafOf(json: Json, key: string): Json | undefined {
  const member = json.members.get(key);
  return member && jsonOf(unread, json.place.bytes, member.start, member.end);
}

const unread: Scanned = { members: new Map(), twice: new Set(), size: 0 };

/** The text of one outermost member; undefined when it is missing. */
export function textIn(json: Json, key: string): string | undefined {
  const member = json.members.get(key);
  return member && slice(json, member.start, member.end);
}

/** The value of one outermost member; undefined when it is missing. Only for small members. */
export function valueIn(json: Json, key: string): unknown {
  const text = textIn(json, key);
  return text === undefined ? undefined : built(text);
}

/** Whether one outermost member is a text. */
export function isText({ members, place: { bytes } }: Json, key: string): boolean {
  const member = members.get(key);
  return member !== undefined && bytes[member.start] === quote;
}

/** Largest member of a device's body that the service reads: enough for a list of names. */
const mostValuesRead = 1_001;
const mostBytesRead = 65_536;

/** Why a member is too large to read; undefined when it is not. */
export function tooLargeReason({ values, start, end }: Member): string | undefined {
  if (values > mostValuesRead) return `has more than ${mostValuesRead - 1} values`;
  return end - start > mostBytesRead ? `has more than ${mostBytesRead} bytes` : undefined;
}

/** The values of some outermost members of a device's text, without missing and too large ones. */
export function pickSmall<Key extends string>(json: Json, keys: readonly Key[]): Partial<Record<Key, unknown>> {
  const isSmall = (key: Key) => {
    const member = json.members.get(key);
    return member !== undefined && tooLargeReason(member) === undefined;
  };
  return pick(json, keys.filter(isSmall));
}

/** The values of some outermost members, without missing ones. */
export function pick<Key extends string>(json: Json, keys: readonly Key[]): Partial<Record<Key, unknown>> {
  const values: Partial<Record<Key, unknown>> = {};
  for (const key of keys) if (json.members.has(key)) values[key] = valueIn(json, key);
  return values;
}

/** A JSON text that is part of a larger one. */
function jsonAt(bytes: Buffer, from: number, end: number, keys: Keys, limits: JsonLimits = answerLimits): Json {
  return jsonOf(scan(bytes, from, end, keys, limits), bytes, from, end);
}

/** What a pass has found there. */
export function jsonOf({ members, twice, size }: Scanned, bytes: Buffer, from: number, end: number): Json {
  const json: { -readonly [Key in keyof Json]: Json[Key] } = Object.create(asAskedFor);
  json.members = members;
  json.twice = twice;
  json.size = size;
  json.place = { bytes, start: from, end };
  return json;
}

/** Members that are computed on access. They are on a prototype because a response may have tens of thousands of elements. */
const asAskedFor = {
  get isObject(): boolean {
    const { bytes, start } = (this as unknown as Json).place;
    return bytes[pastBlanks(bytes, start)] === openBrace;
  },
  get text(): string {
    const { bytes, start, end } = (this as unknown as Json).place;
    const text = bytes.toString('utf8', start, end);
    Object.defineProperty(this, 'text', { value: text });
    return text;
  },
  get value(): unknown {
    const value = built(this.text);
    Object.defineProperty(this, 'value', { value });
    return value;
  },
};

/** The text with one outermost member set to `valueText`; nothing else changes (R5). A new member becomes the first. */
export function withMember(json: Json, key: string, valueText: string): string {
  const { bytes, start, end } = json.place;
  const member = json.members.get(key);
  if (member) return slice(json, start, member.start) + valueText + slice(json, member.end, end);
  const open = bytes.indexOf('{', start) + 1;
  const separator = json.size === 0 ? '' : ',';
  return `${slice(json, start, open)}${JSON.stringify(key)}:${valueText}${separator}${slice(json, open, end)}`;
}

export const bytesOf = ({ place: { bytes, start, end } }: Json): Buffer => bytes.subarray(start, end);

/** The bytes of the text without one outermost member and its comma; nothing else changes (R5). */
export function withoutMember(json: Json, key: string): Buffer {
  const { bytes, start, end } = json.place;
  const member = json.members.get(key);
  if (!member) return bytesOf(json);
  let [from, to] = [member.key, pastBlanks(bytes, member.end)];
  if (bytes[to] === comma) to = pastBlanks(bytes, to + 1);
  else {
    to = member.end;
    let before = from - 1;
    while (isBlank(bytes[before] as number)) before -= 1;
    if (bytes[before] === comma) from = before;
  }
  return Buffer.concat([bytes.subarray(start, from), bytes.subarray(to, end)]);
}

const slice = ({ place: { bytes } }: Json, start: number, end: number): string => bytes.toString('utf8', start, end);

/** @param text well-formed JSON. One without escapes is most often a text of the length of a name. */
function built(text: string): unknown {
  effort.built += text.length;
  return text.charCodeAt(0) === quote && !text.includes('\\') ? text.slice(1, -1) : JSON.parse(text);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
