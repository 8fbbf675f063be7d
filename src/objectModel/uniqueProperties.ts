import type { TypeRegistry } from '../backends/typeRegistry.ts';
import { parseTypeRef, type TypeRef } from '../protocol/fields.ts';
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
export async function uniqueProperties(
  model: string,
  type: TypeRef,
  registry: Pick<TypeRegistry, 'getType'>,
): Promise<readonly string[] | undefined> {
  const names = new Set<string>();
  const types = new Map([[`${type.typeId}@${type.version}`, type]]);
  // The loop includes types that are added during it; a cycle of base types adds none.
  for (const { typeId, version } of types.values()) {
    const definition = await registry.getType(model, typeId, version);
    if (definition === undefined) return undefined;
    for (const name of definition.uniqueProperties ?? definition.unique ?? []) {
      names.add(name);
      if (names.size > mostNames) {
        throw new Rejection('http_response_error', `body.type has more than ${mostNames} unique properties`);
      }
    }
    if (definition.uniqueProperties) continue;
    for (const text of definition.baseTypes ?? []) {
      const base = parseTypeRef(text);
      if (base === undefined) return undefined;
      types.set(`${base.typeId}@${base.version}`, base);
    }
    if (types.size > mostTypes) {
      throw new Rejection('http_response_error', `body.type has more than ${mostTypes - 1} base types`);
    }
  }
  return [...names];
}
