import type { Keys } from './jsonKeys.ts';
import { deepest, type JsonLimits, MalformedJson } from './jsonLimits.ts';
import {
  broken,
  closeBrace,
  closeBracket,
  comma,
  digit9,
  openBrace,
  openBracket,
  pastBlanks,
  pastColon,
  pastKey,
  pastNumber,
  pastString,
  pastWord,
  quote,
} from './jsonTokens.ts';

/** Offsets into the text: of the key's opening quote, of the value's start, and of the end after the value. */
export interface Member {
  readonly key: number;
  readonly start: number;
  readonly end: number;
  /** Number of values, including itself. */
  readonly values: number;
}

/** What a pass finds. */
export interface Scanned {
  /** Wanted members of the outermost object; empty for any other value. The last occurrence of a key counts. */
  readonly members: ReadonlyMap<string, Member>;
  /** Wanted keys that occur more than once in the outermost object. */
  readonly twice: ReadonlySet<string>;
  /** Number of members of the outermost object, wanted or not. */
  readonly size: number;
}

/** An array whose elements are taken one by one as a pass comes to them. */
export interface List {
  /** The keys to find in elements that are objects. */
  readonly keys: Keys;
  readonly limits: JsonLimits;
  /** Called with each element. What it throws ends the pass. */
  take(bytes: Buffer, element: Readonly<Pass>): void;
}

/** What a pass looks for. */
export interface WantedParts {
  /** The wanted keys of the outermost object. */
  readonly keys: Keys;
  readonly limits: JsonLimits;
  /** The wanted member that is a list, if there is one. */
  readonly list?: List & { readonly key: string };
}

/** A small integer beyond the values of any text. */
const neverTooMany = 0x3fffffff;

type FoundMember = { -readonly [Key in keyof Member]: Member[Key] };

/** A pass over one JSON value, as far as it has come. It can pause before any value that is in it. */
export interface Pass extends Scanned {
  /** Offset of the value's first byte. */
  start: number;
  /** Offset of the next byte; behind the value when it has been passed. */
  at: number;
  /** Number of values so far. */
  values: number;
  members: Map<string, FoundMember>;
  twice: Set<string>;
  size: number;
  hasBegun: boolean;
  /** The member whose value is being passed; its name if it is wanted. */
  isInMember: boolean;
  name: string | undefined;
  key: number;
  valueStart: number;
  valuesBefore: number;
  /** For a pause inside a value: the arrays and objects around it, which of them are objects, and the element that has begun. */
  depth: number;
  isObject: Uint8Array | undefined;
  element: Pass | undefined;
}

const none: Map<string, FoundMember> = new Map();
const never: Set<string> = new Set();

export const beginPass = (start: number): Pass => ({
  start,
  at: start,
  values: 0,
  members: none,
  twice: never,
  size: 0,
  hasBegun: false,
  isInMember: false,
  name: undefined,
  key: 0,
  valueStart: 0,
  valuesBefore: 0,
  depth: 0,
  isObject: undefined,
  element: undefined,
});

/** The same object for the next element. */
function beginAgain(pass: Pass, start: number): void {
  pass.start = start;
  pass.at = start;
  pass.values = 0;
  pass.members = none;
  pass.twice = never;
  pass.size = 0;
  pass.hasBegun = false;
}

/**
 * Goes on with the pass.
 * @param until pauses before the first value from this offset on
 * @returns whether the value has been passed
 * @throws MalformedJson
 */
export const goOn = (bytes: Buffer, pass: Pass, sought: WantedParts, until: number): boolean =>
  bytes[pass.start] === openBrace
    ? passObject(bytes, pass, sought, until)
    : passValue(bytes, pass, 0, sought.limits, until);

function passObject(bytes: Buffer, pass: Pass, { keys, limits, list }: WantedParts, until: number): boolean {
  const { untilRepeated } = limits;
  let next = comma;
  if (!pass.hasBegun) {
    pass.hasBegun = true;
    pass.values += 1;
    pass.at = pastBlanks(bytes, pass.at + 1);
    if (bytes[pass.at] === closeBrace) next = closeBrace;
  }
  while (next === comma) {
    if (!pass.isInMember) {
      const key = pass.at;
      if (key >= until) return false;
      const keyEnd = pastKey(bytes, key);
      pass.size += 1;
      pass.name = keys.find(bytes, key + 1, keyEnd - 1);
      pass.key = key;
      pass.at = pastColon(bytes, keyEnd);
      pass.valueStart = pass.at;
      pass.valuesBefore = pass.values;
      pass.isInMember = true;
    }
    const isPassed =
      list !== undefined && pass.name === list.key
        ? passList(bytes, pass, list, until)
        : passValue(bytes, pass, 1, limits, until);
    if (!isPassed) return false;
    pass.isInMember = false;
    if (pass.name !== undefined) {
      note(pass, pass.name);
      if (untilRepeated && pass.twice.size > 0) return true;
    }
    const at = pastBlanks(bytes, pass.at);
    next = bytes[at] as number;
    pass.at = next === comma ? pastBlanks(bytes, at + 1) : at;
  }
  if (next !== closeBrace) throw broken(bytes, pass.at);
  pass.at += 1;
  return true;
}

function note(pass: Pass, name: string): void {
  const { key, valueStart: start, at: end } = pass;
  const values = pass.values - pass.valuesBefore;
  const known = pass.members.get(name);
  if (known === undefined) {
    if (pass.members === none) pass.members = new Map();
    pass.members.set(name, { key, start, end, values });
    return;
  }
  if (!pass.twice.has(name)) {
    if (pass.twice === never) pass.twice = new Set();
    pass.twice.add(name);
  }
  known.key = key; // changed in place, so that a repeated key allocates nothing
  known.start = start;
  known.end = end;
  known.values = values;
}

/** @throws TypeError when the value is no array */
export function passList(bytes: Buffer, pass: Pass, list: List, until: number): boolean {
  let { element } = pass;
  if (element === undefined) {
    if (bytes[pass.at] !== openBracket) throw new TypeError('expected an array');
    pass.values += 1;
    pass.at = pastBlanks(bytes, pass.at + 1);
    if (bytes[pass.at] === closeBracket) {
      pass.at += 1;
      return true;
    }
    element = beginPass(pass.at);
    pass.element = element;
  }
  for (;;) {
    const { values } = element;
    try {
      if (element.at >= until || !goOn(bytes, element, list, until)) return false;
    } finally {
      pass.at = element.at;
      pass.values += element.values - values;
    }
    list.take(bytes, element);
    const at = pastBlanks(bytes, element.at);
    if (bytes[at] !== comma) {
      if (bytes[at] !== closeBracket) throw broken(bytes, at);
      pass.at = at + 1;
      pass.element = undefined;
      return true;
    }
    beginAgain(element, pastBlanks(bytes, at + 1));
  }
}

/** For each open array or object, whether it is an object. It is shared because a pass that pauses keeps a copy. */
const isObject = new Uint8Array(deepest + 1);

/**
 * Passes a value, and everything in it. This loop reads most of the bytes of a device's body, so that it knows nothing of
 * wanted members.
 * @param outer the number of arrays and objects around the value
 * @throws MalformedJson
 */
function passValue(bytes: Buffer, pass: Pass, outer: number, limits: JsonLimits, until: number): boolean {
  const { depth: maxDepth, values: maxValues = neverTooMany } = limits;
  let { at, values } = pass;
  let depth = outer;
  let inObject = false;
  if (pass.isObject !== undefined) {
    depth = pass.depth;
    isObject.set(pass.isObject);
    pass.isObject = undefined;
    inObject = isObject[depth] === 1;
  }
  try {
    for (;;) {
      if (inObject) at = pastColon(bytes, pastKey(bytes, at));
      values += 1;
      if (values > maxValues) throw new MalformedJson(`has more than ${maxValues} values`);
      const first = bytes[at] as number;
      if (first === quote) at = pastString(bytes, at);
      else if (first <= digit9) at = pastNumber(bytes, at);
      else if (first === openBrace || first === openBracket) {
        if (depth === maxDepth) throw new MalformedJson(`is nested more than ${maxDepth} levels deep`);
        at = pastBlanks(bytes, at + 1);
        // the closing bracket is the opening one + 2 for both kinds
        if (bytes[at] === first + 2) at += 1;
        else {
          depth += 1;
          inObject = first === openBrace;
          isObject[depth] = inObject ? 1 : 0;
          continue;
        }
      } else at = pastWord(bytes, at, first);

      while (depth > outer) {
        at = pastBlanks(bytes, at);
        const next = bytes[at] as number;
        if (next === comma) break;
        if (next !== (inObject ? closeBrace : closeBracket)) throw broken(bytes, at);
        at += 1;
        depth -= 1;
        inObject = isObject[depth] === 1;
      }
      if (depth === outer) return true;
      at = pastBlanks(bytes, at + 1);
      if (at >= until) {
        pass.depth = depth;
        pass.isObject = isObject.slice(0, depth + 1);
        return false;
      }
    }
  } finally {
    pass.at = at;
    pass.values = values;
  }
}
