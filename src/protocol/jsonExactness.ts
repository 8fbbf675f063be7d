import { quoted, shortened } from './details.ts';
import type { Json } from './json.ts';
import { allKeys } from './jsonKeys.ts';
import { numberProblem } from './jsonNumbers.ts';
import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  digit9,
  openBrace,
  openBracket,
  pastBlanks,
  pastColon,
  pastNumber,
  pastString,
  pastWord,
  quote,
} from './jsonTokens.ts';

const maxPlaceLength = 300;

/** How far a pass has come, and the keys and indexes that lead there. */
interface Walk {
  readonly bytes: Buffer;
  at: number;
  readonly path: (string | number)[];
}

/**
 * What of a JSON text would be lost if it were read into values and written again: a repeated key, a number that a double
 * cannot stand for, half a surrogate pair. The first such place and the reason, as a sentence; undefined when there is none.
 * Linear, at any depth.
 * @param json has been read, so that its grammar and its depth are known
 * @param name of the text, with which places begin
 */
export function inexactIn({ place: { bytes, start } }: Json, name?: string): string | undefined {
  const walk: Walk = { bytes, at: pastBlanks(bytes, start), path: name === undefined ? [] : [name] };
  const problem = valueProblem(walk);
  return problem && `${placeOf(walk.path)} ${problem}`;
}

function valueProblem(walk: Walk): string | undefined {
  const { bytes, at } = walk;
  const first = bytes[at] as number;
  if (first === openBrace) return membersProblem(walk);
  if (first === quote) {
    walk.at = pastString(bytes, at);
    return isUnicode(bytes, at, walk.at) ? undefined : 'has half a surrogate pair, which is not Unicode text';
  }
  if (first <= digit9) {
    walk.at = pastNumber(bytes, at);
    return numberProblem(bytes.toString('latin1', at, walk.at));
  }
  if (first === openBracket) return elementsProblem(walk);
  walk.at = pastWord(bytes, at, first);
  return undefined;
}

function membersProblem(walk: Walk): string | undefined {
  const { bytes, path } = walk;
  const names = new Set<string>();
  for (let more = pastOpening(walk, closeBrace); more; more = pastSeparator(walk)) {
    const key = walk.at;
    const keyEnd = pastString(bytes, key);
    const name = allKeys.find(bytes, key + 1, keyEnd - 1) as string;
    path.push(name);
    if (names.has(name)) return 'occurs twice';
    if (!name.isWellFormed()) return 'has a name with half a surrogate pair, which is not Unicode text';
    names.add(name);
    walk.at = pastColon(bytes, keyEnd);
    const problem = valueProblem(walk);
    if (problem !== undefined) return problem;
    path.pop();
  }
  return undefined;
}

function elementsProblem(walk: Walk): string | undefined {
  const { path } = walk;
  let index = 0;
  for (let more = pastOpening(walk, closeBracket); more; more = pastSeparator(walk)) {
    path.push(index);
    const problem = valueProblem(walk);
    if (problem !== undefined) return problem;
    path.pop();
    index += 1;
  }
  return undefined;
}

/** @returns whether a member or an element follows */
function pastOpening(walk: Walk, closing: number): boolean {
  walk.at = pastBlanks(walk.bytes, walk.at + 1);
  if (walk.bytes[walk.at] !== closing) return true;
  walk.at += 1;
  return false;
}

/** Past a comma, or the closing bracket. @returns whether a member or an element follows */
function pastSeparator(walk: Walk): boolean {
  const at = pastBlanks(walk.bytes, walk.at);
  const isComma = walk.bytes[at] === comma;
  walk.at = isComma ? pastBlanks(walk.bytes, at + 1) : at + 1;
  return isComma;
}

/** Strict UTF-8 has no half pairs, but escapes may have. */
function isUnicode(bytes: Buffer, from: number, to: number): boolean {
  let at = from;
  while (at < to && bytes[at] !== backslash) at += 1;
  return at === to || String(JSON.parse(bytes.toString('utf8', from, to))).isWellFormed();
}

/** `input.shape["two words"][0]`. */
function placeOf(path: readonly (string | number)[]): string {
  const steps = path.map((step) =>
    typeof step === 'string' && /^\w{1,64}$/.test(step)
      ? `.${step}`
      : `[${typeof step === 'string' ? quoted(step) : step}]`,
  );
  const place = steps.join('').replace(/^\./, '');
  return place === '' ? 'it' : shortened(place, maxPlaceLength);
}
