import { isGuid } from '../protocol/fields.ts';
import { isOneOf, isText, type Json, type Keys, keysOf, memberOf, parseJson, valueIn } from '../protocol/json.ts';

/** An outgoing reference of an object model, in the backend's own text. Its parts are read on access: there may be thousands. */
export type Reference = Json;

/** The keys to find in a reference. */
export const ofReference = keysOf(['name', 'to', 'attributes']);
const ofTarget = keysOf(['objectId', 'model']);

/** Whether a reference has one of the names. @throws TypeError when it has no name */
export function isNamed(names: ReadonlySet<string>): (reference: Reference) => boolean {
  const keys = keysOf(names);
  return (reference) => {
    const name = reference.members.get('name');
    if (!name || !isText(reference, 'name')) throw new TypeError('expected a reference with a name');
    return isOneOf(reference, name, keys);
  };
}

/** The object that a reference leads to, if it leads to its model of this id. @throws TypeError when it leads to no object model */
export function objectOf(model: string): (reference: Reference) => string | undefined {
  const models = keysOf([model]);
  return (reference) => {
    const to = memberOf(reference, 'to', ofTarget);
    const name = to?.members.get('model');
    if (!to || !name || !isText(to, 'model') || !to.members.has('objectId')) throw noTarget();
    if (!isOneOf(to, name, models)) return undefined;
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
export function hasTrue({ members, bytes }: Json): boolean {
  for (const { start } of members.values()) if (bytes[start] === letterT) return true;
  return false;
}

/** Of `true`: no other value begins with it. */
const letterT = 0x74;
