import { type Json, memberOf } from '../protocol/json.ts';

/**
 * The values of the unique properties in an object model, each as it is written there; undefined unless all are
 * present. A value may be plain or wrapped as `{"value": x}` (B2).
 */
export function uniqueValues(model: Json, names: readonly string[]): ReadonlyMap<string, Json> | undefined {
  const properties = memberOf(model, 'properties');
  if (properties === undefined) return undefined;
  const values = new Map<string, Json>();
  for (const name of names) {
    const value = unwrapped(memberOf(properties, name));
    if (value === undefined || value.value === null) return undefined;
    values.set(name, value);
  }
  return values;
}

/** Whether an object model carries these very values. */
export function hasValues(model: Json, wanted: ReadonlyMap<string, Json>): boolean {
  const found = uniqueValues(model, [...wanted.keys()]);
  return found !== undefined && [...wanted].every(([name, value]) => isSame(value, found.get(name)));
}

function unwrapped(value: Json | undefined): Json | undefined {
  const isWrapped = value !== undefined && value.members.size === 1 && value.members.has('value');
  return isWrapped ? memberOf(value, 'value') : value;
}

/** Numbers beyond 2^53 are told apart by how they are written. */
function isSame(a: Json, b: Json | undefined): boolean {
  if (b === undefined) return false;
  if (typeof a.value === 'number' && !Number.isSafeInteger(a.value)) return a.text === b.text;
  return a.text === b.text || (typeof a.value !== 'object' && a.value === b.value);
}
