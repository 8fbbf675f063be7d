import { type Json, memberOf, untilRepeated } from '../protocol/json.ts';
import { keysOf } from '../protocol/jsonKeys.ts';
import type { JsonLimits } from '../protocol/jsonLimits.ts';

/** Values of unique properties, as JSON text. */
export type UniqueValues = ReadonlyMap<string, Json>;

/** Reads the unique properties of a type in object models; a value may be plain or wrapped as `{"value": x}` (B2). */
export function createUniqueValues(names: readonly string[]) {
  const keys = keysOf(names);

  function read(model: Json, limits?: JsonLimits): { values: UniqueValues | undefined; twice: string | undefined } {
    const properties = model.members.get('properties');
    const isThere = properties !== undefined && names.length > 0 && names.length < properties.values;
    const found = isThere ? memberOf(model, 'properties', keys, limits) : undefined;
    if (found === undefined) return { values: undefined, twice: undefined };
    let [twice] = found.twice;
    if (found.members.size < names.length) return { values: undefined, twice };
    const values = new Map<string, Json>();
    for (const name of names) {
      const value = memberOf(found, name, wrapping);
      if (value?.twice.size) twice ??= name;
      const plain = value && unwrapped(value);
      if (plain !== undefined && plain.text !== 'null') values.set(name, plain);
    }
    return { values: values.size === names.length ? values : undefined, twice };
  }

  return {
    /** The values of a device's object model, undefined unless all are present; and a property that occurs twice, if any. */
    read: (model: Json) => read(model, untilRepeated),
    /** Whether an object model has these values. */
    areIn(model: Json, wanted: UniqueValues): boolean {
      const { values } = read(model);
      return values !== undefined && [...wanted].every(([name, value]) => isSame(value, values.get(name)));
    },
  };
}

const wrapping = keysOf(['value']);

function unwrapped(value: Json): Json | undefined {
  return value.size === 1 && value.members.has('value') ? memberOf(value, 'value', wrapping) : value;
}

/** Arrays, objects and numbers beyond 2^53 are equal only if their texts are equal. */
function isSame({ text: a }: Json, other: Json | undefined): boolean {
  const b = other?.text ?? '';
  if (a === b) return true;
  if (a.startsWith('"') && b.startsWith('"')) return JSON.parse(a) === JSON.parse(b);
  return isNumber(a) && isNumber(b) && Number.isSafeInteger(Number(a)) && Number(a) === Number(b);
}

const isNumber = (text: string): boolean => /^-?\d/.test(text);
