import { answerLimits, bodyLimits, checkedEnd, type Json, jsonOf, terminated } from './json.ts';
import type { Keys } from './jsonKeys.ts';
import type { List } from './jsonPass.ts';
import { effort, scanElements, scanInSlices } from './jsonScan.ts';
import { openBracket, pastBlanks } from './jsonTokens.ts';

/** A member of the outermost object whose elements are taken one by one. */
export interface Elements {
  readonly key: string;
  /** The keys to find in elements that are objects. */
  readonly keys: Keys;
  /** What it throws ends the reading. */
  take(element: Json): void;
}

/**
 * Reads the answer of a backend in slices and in one pass: elements are taken as it comes to them.
 * @param keys the keys of the outermost object to find, with that of `elements`
 * @returns reads about the given number of bytes more; undefined until all has been read
 * @throws MalformedJson, also later
 */
export function answerReader(answer: Uint8Array, keys: Keys, elements?: Elements): (slice: number) => Json | undefined {
  const bytes = terminated(answer);
  const end = checkedEnd(bytes);
  const sought = { keys, limits: answerLimits, ...(elements && { list: { key: elements.key, ...listOf(elements) } }) };
  const readOn = scanInSlices(bytes, end, sought);
  return (slice) => {
    const scanned = readOn(slice);
    return scanned && jsonOf(scanned, bytes, 0, end);
  };
}

/** The elements of an outermost member. @throws TypeError when it is no array */
export function eachElement({ members, place: { bytes } }: Json, elements: Elements): void {
  const member = members.get(elements.key);
  if (member === undefined) throw new TypeError('expected an array');
  scanElements(bytes, member.start, listOf(elements));
}

/** The elements of a text that is an array; none of any other. */
export function eachElementOf({ place: { bytes, start } }: Json, keys: Keys, take: Elements['take']): void {
  const at = pastBlanks(bytes, start);
  if (bytes[at] === openBracket) scanElements(bytes, at, listOf({ keys, take }));
}

const listOf = ({ keys, take }: Omit<Elements, 'key'>): List => ({
  keys,
  limits: bodyLimits,
  take(bytes, element) {
    effort.elements += 1;
    take(jsonOf(element, bytes, element.start, element.at));
  },
});
