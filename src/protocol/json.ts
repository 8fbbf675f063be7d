import { isUtf8 } from 'node:buffer';

/**
 * A JSON text as it arrived, beside what it says. The text is what travels on: a round trip through `JSON.stringify`
 * would lose 64-bit integers, `1.0`, `1e400` and the order of integer keys (R5).
 */
export interface Json {
  readonly text: string;
  readonly value: unknown;
  /** Where the members of the outermost object stand in `text`; empty for any other value. A key's last occurrence wins. */
  readonly members: ReadonlyMap<string, Member>;
  /** Dotted paths of the keys that occur twice in their object; objects inside arrays are not looked at. */
  readonly duplicates: readonly string[];
}

/** Offsets into the text: of the key's opening quote, and of the value from its first to past its last character. */
interface Member {
  readonly key: number;
  readonly start: number;
  readonly end: number;
}

/** The deepest nesting of arrays and objects that is read (R5). */
export const maxJsonDepth = 64;

/** The bytes are not a JSON text; the message says why in words a device developer can act on. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}

/**
 * Reads a JSON text: strict UTF-8, no byte order mark, not nested too deep (R5).
 * @throws MalformedJson
 */
export function readJson(bytes: Uint8Array, maxDepth?: number): Json {
  if (bytes.byteLength === 0) throw new MalformedJson('is empty, expected JSON');
  if (!isUtf8(bytes)) throw new MalformedJson('is not valid UTF-8');
  return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'), maxDepth);
}

/**
 * The same for a text that is already decoded.
 * @throws MalformedJson
 */
export function parseJson(text: string, maxDepth = maxJsonDepth): Json {
  if (text.charCodeAt(0) === 0xfeff) throw new MalformedJson('begins with a byte order mark');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // V8's own message quotes the text: it could carry a secret into a log.
    throw new MalformedJson(`is not well-formed JSON${whereItBreaks(error)}`);
  }
  return { text, value, ...scan(text, maxDepth) };
}

/** An array or object that is open while the walk is inside it. */
interface Level {
  /** Dotted path of an object; undefined for an array and everything inside one. */
  readonly path: string | undefined;
  /** The keys met so far; undefined for an array. */
  readonly keys: Set<string> | undefined;
  key: string;
}

/** One walk over a text that JSON.parse has accepted: depth, keys that occur twice, where the outermost members stand. */
function scan(text: string, maxDepth: number): Pick<Json, 'members' | 'duplicates'> {
  const members = new Map<string, Member>();
  const duplicates: string[] = [];
  const levels: Level[] = [];
  let level: Level | undefined;
  let expectsKey = false;
  let keyAt = 0;
  let valueAt = -1;
  let at = 0;
  let end = 0;

  const endMember = () => {
    if (levels.length === 1 && level?.keys && valueAt >= 0) members.set(level.key, { key: keyAt, start: valueAt, end });
    valueAt = -1;
  };

  while (at < text.length) {
    const start = at;
    const character = text[at];
    switch (character) {
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        at += 1;
        continue;
      case ':':
        at += 1;
        continue;
      case ',':
        if (levels.length === 1) endMember();
        expectsKey = level?.keys !== undefined;
        at += 1;
        continue;
      case '}':
      case ']':
        if (levels.length === 1) endMember();
        levels.pop();
        level = levels.at(-1);
        expectsKey = false;
        at += 1;
        end = at;
        continue;
    }
    if (expectsKey) {
      at = endOfString(text, start);
      const key = keyOf(text, start, at);
      if (level?.keys?.has(key) && level.path !== undefined) duplicates.push(join(level.path, key));
      level?.keys?.add(key);
      if (level) level.key = key;
      if (levels.length === 1) keyAt = start;
      expectsKey = false;
      continue;
    }
    if (levels.length === 1 && valueAt < 0) valueAt = start;
    if (character === '{' || character === '[') {
      if (levels.length === maxDepth) throw new MalformedJson(`is nested more than ${maxDepth} levels deep`);
      const isObject = character === '{';
      const parent = level ? (level.path === undefined ? undefined : join(level.path, level.key)) : '';
      level = { path: isObject ? parent : undefined, keys: isObject ? new Set() : undefined, key: '' };
      levels.push(level);
      expectsKey = isObject;
      at += 1;
    } else {
      at = character === '"' ? endOfString(text, start) : endOfLiteral(text, start);
      end = at;
    }
  }
  return { members, duplicates };
}

/** Offset past the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/** Offset past the number, `true`, `false` or `null` that begins at `start`. */
function endOfLiteral(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && !' \t\n\r,]}'.includes(text[end] as string)) end += 1;
  return end;
}

function keyOf(text: string, start: number, end: number): string {
  const raw = text.slice(start, end);
  return raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** One outermost member, as written; undefined when there is none. */
export function memberOf(json: Json, key: string): Json | undefined {
  const member = json.members.get(key);
  return member && parseJson(json.text.slice(member.start, member.end), Number.POSITIVE_INFINITY);
}

/** The text with one outermost member set to `valueText`; nothing else changes (R5). A new member becomes the first. */
export function withMember(json: Json, key: string, valueText: string): string {
  const member = json.members.get(key);
  if (member) return json.text.slice(0, member.start) + valueText + json.text.slice(member.end);
  const open = json.text.indexOf('{') + 1;
  const separator = json.members.size === 0 ? '' : ',';
  return `${json.text.slice(0, open)}${JSON.stringify(key)}:${valueText}${separator}${json.text.slice(open)}`;
}

/** The text without one outermost member and its comma; nothing else changes (R5). */
export function withoutMember(json: Json, key: string): string {
  const member = json.members.get(key);
  if (!member) return json.text;
  const after = json.text.slice(member.end);
  const comma = /^\s*,\s*/.exec(after);
  if (comma) return json.text.slice(0, member.key) + after.slice(comma[0].length);
  return json.text.slice(0, member.key).replace(/,\s*$/, '') + after;
}

/** What is known of the place; V8's message is only asked for the offset. */
function whereItBreaks(error: unknown): string {
  const { message } = error as SyntaxError;
  if (message.startsWith('Unexpected end')) return ', it ends too early';
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? '' : `, see character ${Number(position) + 1}`;
}
