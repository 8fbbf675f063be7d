/** The keys that a reader looks for, prepared once so that `find` allocates nothing. */
export interface Keys {
  /**
   * The key that the text has at this place, if it is one of them. Escapes are decoded: `"type"` and `"ty\u0070e"` are equal.
   * @param from offset of the key's first byte, after the quote
   * @param to offset of its closing quote
   */
  find(bytes: Buffer, from: number, to: number): string | undefined;
}

/** Longer keys are never found: bodies with such keys are rejected (R6). */
export const maxKeyLength = 1_024;

/** One remaining name, or several that differ in the next byte or end there. */
type Branch = Leaf | Map<number, Twig>;
/** A list of names becomes a branch when a key first begins like them. */
type Twig = Branch | Leaf[];
interface Leaf {
  readonly name: string;
  readonly bytes: Buffer;
}

const end = -1;

export function keysOf(names: Iterable<string>): Keys {
  const leaves = Array.from(new Set(names), (name): Leaf => ({ name, bytes: Buffer.from(name) }));
  const known = leaves.filter(({ name, bytes }) => bytes.length <= maxKeyLength && name.isWellFormed());
  const root = mapOf(known, 0);
  /** The branches of the root by first byte, which is enough to exclude most keys. */
  const first = Array.from({ length: 256 }, (_, code) => root.get(code));

  function firstBranch(code: number): Branch | undefined {
    const twig = first[code];
    if (!Array.isArray(twig)) return twig;
    const branch = mapOf(twig, 1);
    first[code] = branch;
    return branch;
  }

  return {
    find(bytes, from, to) {
      const code = bytes[from] as number;
      if (from === to || code === backslash) return walk(bytes, from, to, root, 0);
      const branch = firstBranch(code);
      if (branch === undefined || branch instanceof Map) return branch && walk(bytes, from + 1, to, branch, 1);
      // This comparison excludes most keys that begin like one of ours.
      const name = branch.bytes;
      let depth = 1;
      while (from + depth < to && bytes[from + depth] === name[depth]) depth += 1;
      if (from + depth === to) return depth === name.length ? branch.name : undefined;
      return bytes[from + depth] === backslash ? walk(bytes, from + depth, to, branch, depth) : undefined;
    },
  };

  /**
   * Reads a key byte by byte and decodes escapes.
   * @param start offset of the next byte
   * @param begun number of bytes that have been read
   * @param from the branch that they lead to
   */
  function walk(bytes: Buffer, start: number, to: number, from: Branch, begun: number): string | undefined {
    let branch: Branch | undefined = from;
    let at = start;
    /** Code point of an escaped non-ASCII character, and the number of its UTF-8 bytes that remain. */
    let character = 0;
    let left = 0;
    for (let depth = begun; ; depth += 1) {
      let code: number;
      if (left > 0) {
        left -= 1;
        code = 0x80 | ((character >> (6 * left)) & 0x3f);
      } else if (at === to) code = end;
      else {
        code = bytes[at] as number;
        at += 1;
        if (code === backslash) {
          const letter = bytes[at] as number;
          at += 1;
          if (letter !== letterU) code = escaped[letter] as number;
          else {
            character = hexOf(bytes, at);
            at += 4;
            if (isHighSurrogate(character) && bytes[at] === backslash && bytes[at + 1] === letterU) {
              const low = hexOf(bytes, at + 2) - 0xdc00;
              if (low >= 0 && low < 0x400) {
                character = 0x10000 + ((character - 0xd800) << 10) + low;
                at += 6;
              }
            }
            left = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
            code = left === 0 ? character : (leads[left] as number) | (character >> (6 * left));
          }
        }
      }
      if (depth === 0 && code !== end) branch = firstBranch(code);
      else if (branch instanceof Map) branch = branchAt(branch, code, depth);
      else if (code !== (depth < branch.bytes.length ? branch.bytes[depth] : end)) return undefined;
      if (branch === undefined) return undefined;
      if (code === end) return (branch as Leaf).name;
    }
  }
}

/** @param depth number of bytes that all names have in common */
function mapOf(leaves: readonly Leaf[], depth: number): Map<number, Twig> {
  const groups = new Map<number, Leaf[]>();
  for (const leaf of leaves) {
    const code = leaf.bytes[depth] ?? end;
    const group = groups.get(code);
    if (group) group.push(leaf);
    else groups.set(code, [leaf]);
  }
  return new Map(Array.from(groups, ([code, group]) => [code, group.length === 1 ? (group[0] as Leaf) : group]));
}

/** @param depth number of bytes before the code */
function branchAt(map: Map<number, Twig>, code: number, depth: number): Branch | undefined {
  const twig = map.get(code);
  if (!Array.isArray(twig)) return twig;
  const branch = mapOf(twig, depth + 1);
  map.set(code, branch);
  return branch;
}

/** Finds every key. */
export const allKeys: Keys = { find: decoded };

const backslash = 0x5c;
const letterU = 0x75;

/** The character of a letter after a backslash. */
const escaped = Uint8Array.from({ length: 256 }, (_, code) => code);
for (const pair of ['b\b', 'f\f', 'n\n', 'r\r', 't\t']) escaped[pair.charCodeAt(0)] = pair.charCodeAt(1);

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
