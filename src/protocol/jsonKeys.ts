import { randomInt } from 'node:crypto';

/** The keys that a reader looks for, prepared once so that `find` allocates nothing. */
export interface Keys {
  /**
   * The key that the text has at this place, if it is one of them. Escapes are decoded: `"type"` and `"ty\u0070e"` are equal.
   * @param from offset of the key's first byte, after the quote
   * @param to offset of its closing quote
   */
  find(bytes: Buffer, from: number, to: number): string | undefined;
}

/** Longer keys are passed over: the service looks for none. */
export const maxKeyLength = 1_024;

interface Leaf {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Unknown to those who choose names and keys. */
const seed = randomInt(2 ** 31);

/** A key without its escapes. It is shared because no two keys are decoded at the same time. */
const plain = Buffer.alloc(maxKeyLength + 4);

/** Names are found by their hash, so that a key costs as much among hundreds of names as among two. */
export function keysOf(names: Iterable<string>): Keys {
  const leaves = Array.from(new Set(names), (name): Leaf => ({ name, bytes: Buffer.from(name) }));
  const byHash = new Map<number, Leaf[]>();
  /** By first byte, which is enough to exclude most keys: the names that begin with it. */
  const byFirst = new Array<Leaf[] | undefined>(256).fill(undefined);
  for (const leaf of leaves) {
    const { name, bytes } = leaf;
    if (bytes.length > maxKeyLength || !name.isWellFormed()) continue;
    const hash = hashOf(bytes, 0, bytes.length);
    const same = byHash.get(hash);
    if (same) same.push(leaf);
    else byHash.set(hash, [leaf]);
    const first = bytes[0] ?? 0;
    const beginning = byFirst[first];
    if (beginning) beginning.push(leaf);
    else byFirst[first] = [leaf];
  }

  function named(bytes: Buffer, from: number, to: number): string | undefined {
    const same = byHash.get(hashOf(bytes, from, to));
    if (same === undefined) return undefined;
    for (const leaf of same) if (isAt(leaf.bytes, bytes, from, to)) return leaf.name;
    return undefined;
  }

  function escaped(bytes: Buffer, from: number, to: number): string | undefined {
    const length = decode(bytes, from, to);
    return length > maxKeyLength ? undefined : named(plain, 0, length);
  }

  return {
    find(bytes, from, to) {
      const code = bytes[from] as number;
      if (from === to) return named(bytes, from, to);
      if (code === backslash) return escaped(bytes, from, to);
      const candidates = byFirst[code];
      const only = candidates?.[0];
      if (only === undefined) return undefined;
      let at = from + 1;
      if (candidates?.length === 1) {
        // This comparison excludes most keys that begin like one of ours.
        const name = only.bytes;
        while (at < to && bytes[at] === name[at - from]) at += 1;
        if (at === to) return to - from === name.length ? only.name : undefined;
        return bytes[at] === backslash ? escaped(bytes, from, to) : undefined;
      }
      while (at < to && bytes[at] !== backslash) at += 1;
      return at < to ? escaped(bytes, from, to) : named(bytes, from, to);
    },
  };
}

/** Faster than `Buffer.compare` for what is as short as a name. */
function isAt(name: Buffer, bytes: Buffer, from: number, to: number): boolean {
  let length = 0;
  while (from + length < to && bytes[from + length] === name[length]) length += 1;
  return from + length === to && length === name.length;
}

function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = seed;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash >> 2; // so that V8 needs no memory for it
}

/**
 * Writes a key without its escapes to `plain`.
 * @returns the number of bytes, one more than the longest name has when there are more
 */
function decode(bytes: Buffer, from: number, to: number): number {
  let length = 0;
  for (let at = from; at < to && length <= maxKeyLength; ) {
    const code = bytes[at] as number;
    at += 1;
    if (code !== backslash) {
      plain[length++] = code;
      continue;
    }
    const letter = bytes[at] as number;
    at += 1;
    if (letter !== letterU) {
      plain[length++] = meaningOf[letter] as number;
      continue;
    }
    let character = hexOf(bytes, at);
    at += 4;
    if (isHighSurrogate(character) && bytes[at] === backslash && bytes[at + 1] === letterU) {
      const low = hexOf(bytes, at + 2) - 0xdc00;
      if (low >= 0 && low < 0x400) {
        character = 0x10000 + ((character - 0xd800) << 10) + low;
        at += 6;
      }
    }
    length = writeCharacter(character, length);
  }
  return length;
}

/** As UTF-8; half a surrogate pair becomes bytes that are in no name. @returns the length behind it */
function writeCharacter(character: number, start: number): number {
  let length = start;
  const left = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  plain[length++] = left === 0 ? character : (leads[left] as number) | (character >> (6 * left));
  for (let more = left - 1; more >= 0; more -= 1) plain[length++] = 0x80 | ((character >> (6 * more)) & 0x3f);
  return length;
}

/** Finds every key. */
export const allKeys: Keys = { find: decoded };

const backslash = 0x5c;
const letterU = 0x75;

/** The character of a letter after a backslash. */
const meaningOf = Uint8Array.from({ length: 256 }, (_, code) => code);
for (const pair of ['b\b', 'f\f', 'n\n', 'r\r', 't\t']) meaningOf[pair.charCodeAt(0)] = pair.charCodeAt(1);

/** The bits of the first UTF-8 byte that give the number of bytes that follow. */
const leads = [0, 0xc0, 0xe0, 0xf0];

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/** Four hexadecimal digits. */
function hexOf(bytes: Buffer, at: number): number {
  let code = 0;
  for (let index = at; index < at + 4; index += 1) {
    const digit = bytes[index] as number;
    code = code * 16 + (digit & 0xf) + (digit > 0x39 ? 9 : 0);
  }
  return code;
}

function decoded(bytes: Buffer, from: number, to: number): string {
  const written = bytes.toString('utf8', from, to);
  return written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written;
}
