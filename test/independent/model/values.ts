import { gunzipSync, inflateSync } from 'node:zlib';
import { Failure } from './steps.ts';

/** The forms of single values (P1, P2, P5, GUIDs). */

const guidForm = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const controls = /\p{Cc}/u;

export const isGuid = (value: unknown): value is string => typeof value === 'string' && guidForm.test(value);

/** P5: 1 to 256 characters, none of / \ ? # % and no control characters; not `.`, not beginning with `..`. */
export const isModelId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length >= 1 &&
  value.length <= 256 &&
  !/[/\\?#%]/.test(value) &&
  !controls.test(value) &&
  value !== '.' &&
  !value.startsWith('..');

/** A type identifier, `@` and one to three numbers optional. */
export function typeOf(value: unknown): { id: string; version: string | undefined } | undefined {
  if (typeof value !== 'string') return undefined;
  const [id = '', version, ...more] = value.split('@');
  if (more.length > 0 || !isModelId(id)) return undefined;
  return version === undefined || /^\d+(\.\d+\.\d+)?$/.test(version) ? { id, version } : undefined;
}

/** P5: names joined by `/`; the empty path is the device itself. */
export const isPath = (value: string): boolean =>
  value === '' || value.split('/').every((name) => !['', '.', '..'].includes(name) && !controls.test(name));

export const hasControls = (value: string): boolean => controls.test(value);

/** P2: whole seconds, at most 900. */
export const isTimeout = (value: string): boolean => /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 900;

const asks: Readonly<Record<string, string>> = {
  '': 'none',
  none: 'none',
  positive: 'positive',
  negative: 'negative',
  all: 'all',
  full: 'all',
};

/** P1: undefined when it is none of those. */
export const ackOf = (value: string): string | undefined =>
  Object.hasOwn(asks, value.toLowerCase()) ? asks[value.toLowerCase()] : undefined;

/** C1: the system property that a correlation id can be. */
export const systemId = (id: string | undefined): string | undefined =>
  id !== undefined && /^[\x20-\x7e]{1,128}$/.test(id) ? id : undefined;

/** R5, R6: from bytes to a text that is well-formed JSON. */

const mostBytes = 512 * 1024;
const mostLevels = 128;

/** The text of a body; fails with `invalid` when it is none, and with `decompression_error` when it cannot be unpacked. */
export function textOf(body: Buffer, encoding: string, invalid: string): string {
  const text = utf8(unpacked(body, encoding), invalid);
  if (levelsOf(text) > mostLevels) throw new Failure(invalid);
  try {
    JSON.parse(text);
  } catch {
    throw new Failure(invalid, ['body']);
  }
  return text;
}

function unpacked(body: Buffer, encoding: string): Buffer {
  const name = encoding.toLowerCase();
  if (['', 'utf8', 'utf-8', 'identity'].includes(name)) return body;
  const inflate = name === 'gzip' ? gunzipSync : name === 'deflate' ? inflateSync : undefined;
  if (inflate === undefined) throw new Failure('decompression_error', ['content-encoding']);
  for (const packed of [body, Buffer.from(body.toString('latin1').replaceAll('"', ''), 'base64')]) {
    const plain = inflated(packed, inflate);
    if (plain !== undefined && plain.length <= mostBytes) return plain;
  }
  throw new Failure('decompression_error');
}

/** Undefined when it is not compressed in this way, or is much too large. */
function inflated(packed: Buffer, inflate: typeof gunzipSync): Buffer | undefined {
  try {
    return inflate(packed, { maxOutputLength: mostBytes + 1 });
  } catch {
    return undefined;
  }
}

function utf8(bytes: Buffer, invalid: string): string {
  const text = bytes.toString('utf8');
  if (text === '' || text.startsWith('\ufeff') || !Buffer.from(text).equals(bytes))
    throw new Failure(invalid, ['body']);
  return text;
}

function levelsOf(text: string): number {
  let level = 0;
  let most = 0;
  for (const [token] of text.matchAll(/"(?:\\.|[^"\\])*"|[[\]{}]/gs)) {
    if ('[{'.includes(token)) most = Math.max(most, ++level);
    else if (']}'.includes(token)) level--;
  }
  return most;
}

export function membersOf(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** R5: fails when one of these keys is written twice on the first level. */
export function checkOnce(text: string, keys: readonly string[], invalid: string): void {
  const twice = keys.filter((key) => topLevelKeys(text).filter((one) => one === key).length > 1);
  if (twice.length > 0) throw new Failure(invalid, twice);
}

function topLevelKeys(text: string): string[] {
  const keys: string[] = [];
  let level = 0;
  for (const [token, , colon] of text.matchAll(/("(?:\\.|[^"\\])*")(\s*:)?|[[\]{}]/gs)) {
    if ('[{'.includes(token)) level++;
    else if (']}'.includes(token)) level--;
    else if (level === 1 && colon) keys.push(JSON.parse(token.slice(0, -colon.length)));
  }
  return keys;
}

/** Whether a text is the first one with another value of a member, and nothing else changed. */
export function isWith(key: string, value: unknown, before: string): (after: string) => boolean {
  const printed = JSON.stringify(value);
  const member = new RegExp(`("${key}"\\s*:\\s*)(null|\\d[\\d.eE+-]*)`);
  return (after) =>
    Object.hasOwn(membersOf(before), key)
      ? after === before.replace(member, (_, start) => `${start}${printed}`)
      : [`"${key}":${printed},`, `"${key}":${printed}`].some((added) => after.replace(added, '') === before) &&
        membersOf(after)[key] === value;
}
