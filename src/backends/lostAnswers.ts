import { isDeepStrictEqual } from 'node:util';
import { decimalOf } from 'telemetry/exactJson.ts';
import { parseTypeRef, type TypeRef } from '../protocol/fields.ts';
import { type Json, pickSmall, textIn } from '../protocol/json.ts';

/** Checks whether a request whose response was lost took effect (B4). */

/** The object model has the type and the owner of the request. */
export function isCreatedBy(sent: Json, ownerId: string, stored: Json): boolean {
  const type = typeIn(sent)?.typeId;
  return type !== undefined && pickSmall(stored, ['ownerId']).ownerId === ownerId && typeIn(stored)?.typeId === type;
}

/** The object model has the content of the request and the next version. */
export function isReplacedBy(sent: Json, stored: Json): boolean {
  const before = versionOf(sent);
  return (
    before !== undefined &&
    versionOf(stored) === before + 1n &&
    isOfType(typeIn(stored), typeIn(sent)) &&
    (!sent.members.has('name') || equalIn('name', sent, stored)) &&
    equalIn('properties', sent, stored, '{}') &&
    equalIn('variables', sent, stored, '{}')
  );
}

/** The type version has every member of the sent definition. */
export const isDefinedBy = (sent: Json, stored: Json): boolean =>
  [...sent.members.keys()].every((key) => equalIn(key, sent, stored));

/** A stored type has a full version; the requested one may have none, or only a major version. */
function isOfType(type: TypeRef | undefined, wanted: TypeRef | undefined): boolean {
  if (type === undefined || type.typeId !== wanted?.typeId) return false;
  return wanted.version === undefined || `${type.version}.`.startsWith(`${wanted.version}.`);
}

const typeIn = (json: Json): TypeRef | undefined => parseTypeRef(pickSmall(json, ['type']).type);

/** Exact for versions beyond 2^53, too. */
function versionOf(json: Json): bigint | undefined {
  const text = textIn(json, 'version') ?? '';
  return /^\d{1,40}$/.test(text) ? BigInt(text) : undefined;
}

/**
 * Whether two JSON texts have the same value. The order of keys, white space, escapes and the notation of numbers (`1.0`,
 * `10e-1`) do not matter. Numbers are compared exactly, not as JavaScript numbers: 2^53 and 2^53 + 1 differ.
 */
export const saysTheSame = (a: string, b: string): boolean => isDeepStrictEqual(exact(a), exact(b));

/** The same for one member of two objects. `otherwise` replaces a missing member. */
function equalIn(key: string, a: Json, b: Json, otherwise = 'null'): boolean {
  const read = (json: Json) => textIn(json, key) ?? otherwise;
  return saysTheSame(read(a), read(b));
}

/** The value, with each number as normalised text. A prefix tells numbers (`n`) from strings (`s`). */
const exact = (text: string): unknown =>
  JSON.parse(
    text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token[0] === '"' ? `"s${token.slice(1)}` : `"n${normal(token)}"`,
    ),
  );

/** A number in normal form: sign, significant digits and exponent. One with a very long exponent stays unchanged. */
function normal(number: string): string {
  const { digits, exponent } = decimalOf(number);
  if (digits === '') return '0';
  if (!Number.isSafeInteger(exponent)) return number;
  return `${number.startsWith('-') ? '-' : ''}${digits}e${exponent}`;
}
