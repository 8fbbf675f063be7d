import { isDeepStrictEqual } from 'node:util';

/** The hub behaves otherwise; the message says how. */
export class Differs extends Error {
  override readonly name = 'Differs';
}

/** On this hub the fact cannot be seen; the message says why. */
export class NotTried extends Error {
  override readonly name = 'NotTried';
}

/** @throws Differs when `seen` is another value than the one that the fact says */
export function same(what: string, seen: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(seen, expected)) throw new Differs(`${what}: ${show(seen)} instead of ${show(expected)}`);
}

/** @throws Differs when it does not hold */
export function holds(what: string, does: boolean, seen?: unknown): void {
  if (!does) throw new Differs(seen === undefined ? what : `${what}: ${show(seen)}`);
}

const longest = 300;

/** A value in a report: short, and without what looks like a signature or a key. */
export function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(plain(value)) ?? String(value));
  const harmless = text.replace(/(SharedAccessKey|AccountKey|sig)=[^;&"\s]+/gi, '$1=…');
  return harmless.length > longest ? `${harmless.slice(0, longest)}…` : harmless;
}

const plain = (value: unknown): unknown =>
  value instanceof Error
    ? `${value.constructor.name}: ${value.message}`
    : Buffer.isBuffer(value)
      ? `${value.length} bytes`
      : value;
