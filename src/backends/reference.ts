import { isGuid } from '../protocol/fields.ts';
import { type Json, memberOf, parseJson, valueIn } from '../protocol/json.ts';
import { type Keys, keysOf, maxKeyLength } from '../protocol/jsonKeys.ts';
import { quote } from '../protocol/jsonTokens.ts';

/** An outgoing reference of an object model, in the backend's own text. Its parts are read on access: there may be thousands. */
export type Reference = Json;

/** The keys to find in a reference. */
export const ofReference = keysOf(['name', 'to', 'attributes']);
const ofTarget = keysOf(['objectId', 'model']);

/** Whether a reference has one of the names. @throws TypeError when it has no name */
export function isNamed(names: ReadonlySet<string>): (reference: Reference) => boolean {
  const keys = keysOf(names);
  const areFound = [...names].every((name) => name.isWellFormed() && Buffer.byteLength(name) <= maxKeyLength);
  return (reference) => {
    const { bytes } = reference.place;
    const { start, end } = reference.members.get('name') ?? reference.place;
    if (bytes[start] !== quote) throw new TypeError('expected a reference with a name');
    return areFound
      ? keys.find(bytes, start + 1, end - 1) !== undefined
      : names.has(valueIn(reference, 'name') as string);
  };
}

/** The object that a reference leads to, if it leads to its model of this id. @throws TypeError when it leads to no object model */
export function objectOf(model: string): (reference: Reference) => string | undefined {
  const models = keysOf([model]);
  return (reference) => {
    const to = memberOf(reference, 'to', ofTarget);
    const [name, id] = [to?.members.get('model'), to?.members.get('objectId')];
    const { bytes } = reference.place;
    if (to === undefined || name === undefined || id === undefined || bytes[name.start] !== quote) throw noTarget();
    if (models.find(bytes, name.start + 1, name.end - 1) === undefined) return undefined;
    const objectId = valueIn(to, 'objectId');
    if (!isGuid(objectId)) throw noTarget();
    return objectId;
  };
}

/** Object and model that a reference leads to; empty when it has none. */
export const targetOf = (reference: Reference): Json => memberOf(reference, 'to', ofTarget) ?? parseJson('{}');

const noTarget = () => new TypeError('expected a reference to an object model');

/** @throws TypeError when they are no object */
export function attributesOf(reference: Reference, keys?: Keys): Json {
  const attributes = memberOf(reference, 'attributes', keys) ?? parseJson('{}');
  if (!attributes.isObject) throw new TypeError('expected attributes to be an object');
  return attributes;
}

/** Whether one of these attributes is `true`. */
export function isMarked(reference: Reference, marks: Keys): boolean {
  if (!reference.members.has('attributes')) return false;
  return hasTrue(attributesOf(reference, marks));
}

/** Whether one of the members that were looked for is `true`. */
export function hasTrue({ members, place }: Json): boolean {
  for (const { start } of members.values()) if (place.bytes[start] === letterT) return true;
  return false;
}

/** Of `true`: no other value begins with it. */
const letterT = 0x74;
