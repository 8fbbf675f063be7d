import { randomUUID } from 'node:crypto';
import { Refusal } from './refusal.ts';

/** Anything that JSON can say. */
export type Json = null | boolean | number | ExactNumber | string | Json[] | JsonObject;

export interface JsonObject {
  [name: string]: Json;
}

/** A number that JavaScript would write otherwise than it was written: `1.0`, `1e3`, `9007199254740993`. */
export class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  /** The nearest number of JavaScript. */
  get value(): number {
    return Number(this.text);
  }
  /** For `JSON.stringify`, which cannot write it as it is. */
  toJSON(): number {
    return this.value;
  }
}

/** Whether a value is an object, and neither a list nor null. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** A value to calculate and compare with. */
export const numeric = <T extends Json | undefined>(value: T): Exclude<T, ExactNumber> | number =>
  value instanceof ExactNumber ? value.value : (value as Exclude<T, ExactNumber>);

/** Read JSON; numbers keep what was written. Refuses what is none. */
export function parseJson(text: string): Json {
  try {
    const parsed = JSON.parse(text) as Json;
    const marked = withMarks(text);
    return marked === undefined ? parsed : (JSON.parse(marked, unmark) as Json);
  } catch {
    throw new Refusal('com.microsoft:argument-error', 'The body is not JSON.');
  }
}

/**
 * Write JSON, members that are undefined left out.
 * @throws RangeError when it is nested too deep
 */
export function writeJson(value: Json): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`;
}

// No text that a client can know begins so.
const mark = randomUUID();
const begins = /["\d-]/g;
const number = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;

/** Valid JSON in which each number that would be written otherwise is a text with a mark; undefined when there is none. */
function withMarks(text: string): string | undefined {
  const parts: string[] = [];
  let copied = 0;
  begins.lastIndex = 0;
  for (let found = begins.exec(text); found; found = begins.exec(text)) {
    const at = found.index;
    if (found[0] === '"') {
      begins.lastIndex = endOfText(text, at);
      continue;
    }
    number.lastIndex = at;
    const written = number.exec(text)?.[0] ?? '';
    begins.lastIndex = at + written.length;
    if (written === String(Number(written))) continue;
    parts.push(text.slice(copied, at), `"${mark}${written}"`);
    copied = begins.lastIndex;
  }
  return copied === 0 ? undefined : `${parts.join('')}${text.slice(copied)}`;
}

/** Behind the quotation mark that ends the text which begins at `at`. */
function endOfText(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
}

const unmark = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value;
