import { parseTypeRef } from '../protocol/fields.ts';
import { type Json, textIn, valueIn } from '../protocol/json.ts';
import { equalIn } from './jsonEquality.ts';

/** Proofs that what is stored is the work of a request whose answer was lost (B4). */

/** The object model is of the type and the owner that the request names. */
export function isCreatedBy(sent: Json, ownerId: string, stored: Json): boolean {
  const type = parseTypeRef(valueIn(sent, 'type'))?.typeId;
  return (
    type !== undefined &&
    valueIn(stored, 'ownerId') === ownerId &&
    parseTypeRef(valueIn(stored, 'type'))?.typeId === type
  );
}

/** The object model says what the request says, one version higher. */
export function isReplacedBy(sent: Json, stored: Json): boolean {
  const before = versionOf(sent);
  return (
    before !== undefined &&
    versionOf(stored) === before + 1n &&
    isOfType(valueIn(stored, 'type'), valueIn(sent, 'type')) &&
    (!sent.members.has('name') || equalIn('name', sent, stored)) &&
    equalIn('properties', sent, stored, '{}') &&
    equalIn('variables', sent, stored, '{}')
  );
}

/** The type version has every member of the definition that was sent. */
export const isDefinedBy = (sent: Json, stored: Json): boolean =>
  [...sent.members.keys()].every((key) => equalIn(key, sent, stored));

/** A stored type has a full version; the one asked for may have none, or a major one. */
function isOfType(stored: unknown, asked: unknown): boolean {
  const [type, wanted] = [parseTypeRef(stored), parseTypeRef(asked)];
  if (type === undefined || type.typeId !== wanted?.typeId) return false;
  return wanted.version === undefined || `${type.version}.`.startsWith(`${wanted.version}.`);
}

/** Exact, however large. */
function versionOf(json: Json): bigint | undefined {
  const text = textIn(json, 'version') ?? '';
  return /^\d{1,40}$/.test(text) ? BigInt(text) : undefined;
}
