import { parseTypeRef, type TypeRef } from '../protocol/fields.ts';
import { type Json, pickSmall, textIn } from '../protocol/json.ts';
import { equalIn } from './jsonEquality.ts';

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
