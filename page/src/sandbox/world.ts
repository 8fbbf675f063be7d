import type { Schema } from '../form/fields.ts';

/** An object model of the sandbox's information model. */
export interface ObjectModel {
  readonly tenant: string;
  readonly name?: string;
  readonly objectId: string;
  readonly model: string;
  /** With its version. */
  readonly type: string;
  /** Of its owner: the device, then the connectivity path. */
  readonly path?: string;
  readonly version?: number;
  readonly references: readonly Reference[];
}

export interface Reference {
  readonly name: string;
  readonly to: { readonly objectId: string; readonly model: string };
}

export interface TypeDefinition {
  readonly typeId: string;
  readonly version: string;
  readonly model?: string;
  readonly baseTypes?: readonly string[];
  readonly methods?: Readonly<Record<string, Method>>;
}

export interface Method {
  readonly description?: string;
  readonly input?: Readonly<Record<string, { readonly description?: string; readonly dataType: string }>>;
}

/** Two tenants may have objects with the same id. */
export const keyOf = ({ tenant, objectId, model }: Pick<ObjectModel, 'tenant' | 'objectId' | 'model'>): string =>
  `${tenant} ${objectId} ${model}`;

/** The methods of a type and of its base types, by name. */
export function methodsOf(type: string, types: readonly TypeDefinition[]): Readonly<Record<string, Method>> {
  const seen = new Set<string>();
  const collect = (wanted: string): Readonly<Record<string, Method>> => {
    const definition = types.find(({ typeId, version }) => `${typeId}@${version}` === wanted);
    if (!definition || seen.has(wanted)) return {};
    seen.add(wanted);
    const inherited = (definition.baseTypes ?? []).map(collect);
    return Object.assign({}, ...inherited, definition.methods);
  };
  return collect(type);
}

const jsonTypes: Readonly<Record<string, string>> = {
  string: 'string',
  file: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
};

/** The inputs of a method as a schema, from which a form is made. */
export function schemaOfInputs({ input = {} }: Method): Schema {
  return {
    properties: Object.fromEntries(
      Object.entries(input).map(([name, { dataType, description = '' }]) => [
        name,
        { ...(jsonTypes[dataType] && { type: jsonTypes[dataType] }), description: `${dataType}: ${description}` },
      ]),
    ),
  };
}
