import { parseTypeRef } from '../protocol/fields.ts';
import { type Json, memberOf } from '../protocol/json.ts';
import { agreesIn } from './meaning.ts';

/** Proofs that what is stored is the work of a request whose answer was lost (B4). */

/** The object model is of the type and the owner that the request names. */
export function isCreatedBy(sent: Json, ownerId: string, stored: Json): boolean {
  const type = parseTypeRef(fieldsOf(sent)['type'])?.typeId;
  const { ownerId: owner, type: storedType } = fieldsOf(stored);
  return type !== undefined && owner === ownerId && parseTypeRef(storedType)?.typeId === type;
}

/** The object model says what the request says, one version higher. */
export function isReplacedBy(sent: Json, stored: Json): boolean {
  const [given, found] = [fieldsOf(sent), fieldsOf(stored)];
  const before = versionOf(sent);
  return (
    before !== undefined &&
    versionOf(stored) === before + 1n &&
    isOfType(found['type'], given['type']) &&
    (given['name'] === undefined || found['name'] === given['name']) &&
    agreesIn('properties', sent, stored, '{}') &&
    agreesIn('variables', sent, stored, '{}')
  );
}

/** The type version has every member of the definition that was sent. */
export const isDefinedBy = (sent: Json, stored: Json): boolean =>
  [...sent.members.keys()].every((key) => agreesIn(key, sent, stored));

/** The members of an object; none for anything else. */
export const fieldsOf = (json: Json | undefined): Readonly<Record<string, unknown>> => Object(json?.value);

/** A stored type has a full version; the one asked for may have none, or a major one. */
function isOfType(stored: unknown, asked: unknown): boolean {
  const [type, wanted] = [parseTypeRef(stored), parseTypeRef(asked)];
  if (type === undefined || type.typeId !== wanted?.typeId) return false;
  return wanted.version === undefined || `${type.version}.`.startsWith(`${wanted.version}.`);
}

/** Exact, however large. */
function versionOf(json: Json): bigint | undefined {
  const text = memberOf(json, 'version')?.text ?? '';
  return /^\d{1,40}$/.test(text) ? BigInt(text) : undefined;
}
