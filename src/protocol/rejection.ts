import type { FailureCode } from './vocabulary.ts';

/** Becomes a failed acknowledgement. `details` is for developers of devices: no URL, token, stack or request value; cut when it is too long. */
export class Rejection extends Error {
  override readonly name = 'Rejection';
  readonly code: FailureCode;
  readonly details: string;

  constructor(code: FailureCode, details: string) {
    const short = shortened(details);
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // a stack is of no use here, and takes longer than the rest
    super(`${code}: ${short}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.details = short;
  }
}

/** Limits for the description of a failure in replies, logs and dead letters. */
const maxCharacters = 1_000;
const maxFaults = 10;

/** The first ten texts, and the number of the others. */
export function firstOf(texts: readonly string[]): readonly string[] {
  const more = texts.length - maxFaults;
  return more > 0 ? [...texts.slice(0, maxFaults), `… and ${more} more`] : texts;
}

export const listed = (faults: readonly string[]): string => firstOf(faults).join('; ');

/** The text cut to the length, including its ellipsis. */
export const shortened = (text: string, most = maxCharacters): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;

const maxNameLength = 64;

/** A name that a caller or a device has chosen, for a sentence: in quotation marks, without control characters, cut. */
export function quoted(name: string): string {
  const plain = name.slice(0, maxNameLength + 1).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return JSON.stringify(plain.length <= maxNameLength ? plain : `${plain.slice(0, maxNameLength).toWellFormed()}…`);
}

/** A place in JSON, by keys and indexes, in at most 300 characters: `input.shape["two words"][0]`. */
export function placeIn(path: readonly (string | number)[]): string {
  const named = (key: string) => (/^\w{1,64}$/.test(key) ? `.${key}` : `[${quoted(key)}]`);
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : named(step))).join('');
  return shortened(place.replace(/^\./, '') || 'it', 300);
}
