import type { Keys } from './jsonKeys.ts';
import type { JsonLimits } from './jsonLimits.ts';
import { beginPass, goOn, type List, type Pass, passList, type Scanned, type WantedParts } from './jsonPass.ts';
import { broken, pastBlanks } from './jsonTokens.ts';

/**
 * The cost of reading JSON since the start of the process: bytes and values that were passed, elements of lists that were
 * taken, and characters of texts that were parsed into values.
 */
export const effort = { characters: 0, values: 0, elements: 0, built: 0 };

/** A small integer beyond any text. */
const neverPause = 0x3fffffff;

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
  const pass = beginPass(pastBlanks(bytes, start));
  effort.characters += pass.at - start;
  advance(bytes, pass, { keys, limits }, neverPause);
  if (!limits.untilRepeated || pass.twice.size === 0) checkEnd(bytes, pass, end);
  return pass;
}

/**
 * The same in slices.
 * @returns passes about the given number of bytes more; undefined until the text has been passed
 */
export function scanInSlices(bytes: Buffer, end: number, sought: WantedParts): (slice: number) => Scanned | undefined {
  const pass = beginPass(pastBlanks(bytes, 0));
  return (slice) => {
    if (!advance(bytes, pass, sought, pass.at + slice)) return undefined;
    checkEnd(bytes, pass, end);
    return pass;
  };
}

/** Takes the elements of an array that is a part of a text. @throws TypeError for any other value */
export function scanElements(bytes: Buffer, start: number, list: List): void {
  const pass = beginPass(start);
  try {
    passList(bytes, pass, list, neverPause);
  } finally {
    count(pass, start, 0);
  }
}

function advance(bytes: Buffer, pass: Pass, sought: WantedParts, until: number): boolean {
  const { at, values } = pass;
  try {
    return goOn(bytes, pass, sought, until);
  } finally {
    count(pass, at, values);
  }
}

function count(pass: Pass, at: number, values: number): void {
  effort.characters += pass.at - at;
  effort.values += pass.values - values;
}

function checkEnd(bytes: Buffer, pass: Pass, end: number): void {
  const at = pastBlanks(bytes, pass.at);
  effort.characters += at - pass.at;
  if (at < end) throw broken(bytes, at);
}
