import type { TypeRegistry } from '../backends/typeRegistry.ts';
import { parseTypeRef, type TypeRef } from '../protocol/fields.ts';
import { type Json, keysOf, leafOf, memberOf, sizeOf } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';

/** Most types that are read for one look-up, including the type itself. */
const mostTypes = 64;
/** Most names that one look-up compares (D31). */
const mostNames = 256;

/**
 * The effective unique properties of a type: `uniqueProperties` of the registry, else `unique` of the type and of all its
 * base types (D31). Undefined when one of these types does not exist: then only the information model knows them.
 * @throws Rejection when the type has too many base types, or too many unique properties
 */
export async function uniqueProperties(model: string, type: TypeRef, registry: Pick<TypeRegistry, 'getType'>) {
  const names = new Set<string>();
  const types = new Map([[`${type.typeId}@${type.version}`, type]]);
  // The loop includes types that are added during it; a cycle of base types adds none.
  for (const { typeId, version } of types.values()) {
    const definition = await registry.getType(model, typeId, version);
    if (definition === undefined) return undefined;
    for (const name of definition.uniqueProperties ?? definition.unique ?? []) {
      names.add(name);
      if (names.size > mostNames)
        throw new Rejection('http_response_error', `body.type has more than ${mostNames} unique properties`);
    }
    if (definition.uniqueProperties) continue;
    for (const text of definition.baseTypes ?? []) {
      const base = parseTypeRef(text);
      if (base === undefined) return undefined;
      types.set(`${base.typeId}@${base.version}`, base);
    }
    if (types.size > mostTypes)
      throw new Rejection('http_response_error', `body.type has more than ${mostTypes - 1} base types`);
  }
  return [...names];
}

type UniqueValues = ReadonlyMap<string, Json>;

/** Reads the unique properties of a type in object models; a value may be plain or wrapped as `{"value": x}` (B2). */
export function createUniqueValues(names: readonly string[]) {
  const keys = keysOf(names);

  function read(model: Json): { values: UniqueValues | undefined; twice: string | undefined } {
    const properties = model.members.get('properties');
    const isThere = properties !== undefined && names.length > 0 && names.length < properties.values;
    const found = isThere ? memberOf(model, 'properties', keys) : undefined;
    if (found === undefined) return { values: undefined, twice: undefined };
    let [twice] = found.twice;
    if (found.members.size < names.length) return { values: undefined, twice };
    const values = new Map<string, Json>();
    for (const name of names) {
      const value = memberOf(found, name, wrapping);
      if (value?.twice.size) twice ??= name;
      const plain = value?.size === 1 && value.members.has('value') ? leafOf(value, 'value') : value;
      if (plain !== undefined && plain.text !== 'null') values.set(name, plain);
    }
    return { values: values.size === names.length ? values : undefined, twice };
  }

  return {
    /** The values of a device's object model, undefined unless all are present; and a property that occurs twice, if any. */
    read,
    /** Whether an object model has these values. Each of them is decoded once, however many models there are. */
    matching(wanted: UniqueValues): (model: Json) => boolean {
      const checks = Array.from(wanted, ([name, value]) => [name, equalTo(value)] as const);
      return (model) => {
        const { values } = read(model);
        return values !== undefined && checks.every(([name, isEqual]) => isEqual(values.get(name) as Json));
      };
    },
  };
}

const wrapping = keysOf(['value']);

/** Arrays, objects and numbers beyond 2^53 are equal only if their texts are equal. */
function equalTo(one: Json): (other: Json) => boolean {
  const { text } = one;
  if (!text.startsWith('"')) {
    const number = Number(text);
    return (other) => other.text === text || (Number.isSafeInteger(number) && Number(other.text) === number);
  }
  let value: unknown;
  return (other) => {
    if (6 * sizeOf(other) < sizeOf(one)) return false; // an escape has at most six bytes for one
    if (other.text === text) return true;
    value ??= one.value;
    return other.text.startsWith('"') && other.value === value;
  };
}
