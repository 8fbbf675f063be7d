import { type Body, readNested } from '../requests/body.ts';
import { scalar } from '../requests/json.ts';
import { invalid } from '../requests/problem.ts';
import type { Groups } from '../rules/uniqueness.ts';
import type { DataType, Definition } from './definition.ts';
import { parseTypeRef, type TypeRef, type Version } from './version.ts';

/** A property or variable of a type. */
export interface Field {
  readonly dataType: DataType;
  readonly isMandatory: boolean;
  /** Raw JSON text; given to related models that are created with the type. */
  readonly fallback?: string;
}

export interface RelatedModel {
  readonly type: TypeRef;
  /** Property of the main model → property of the related one. */
  readonly uniqueMapping: ReadonlyMap<string, string>;
}

/** What a type says together with its base types. */
export interface ResolvedType {
  /** Each as `<typeId>@<major version>`. */
  readonly baseTypes: ReadonlySet<string>;
  readonly properties: ReadonlyMap<string, Field>;
  readonly variables: ReadonlyMap<string, Field>;
  readonly references: ReadonlySet<string>;
  /** Model definition → what is created beside an object model of this type. */
  readonly relatedModels: ReadonlyMap<string, RelatedModel>;
  readonly groups: Groups;
  /** The property names of all groups. */
  readonly uniqueProperties: readonly string[];
}

/** A version of a type that others may derive from. */
export interface BaseType extends ResolvedType {
  readonly typeId: string;
  readonly version: Version;
}

/** Whether a raw value is of a data type; null stands for no value and fits all. A file is named by a string. */
export function fitsDataType(raw: string, dataType: DataType): boolean {
  if (raw === 'null') return true;
  const kind = scalar(raw)?.kind;
  if (dataType === 'number') return kind === 'number' || kind === 'integer';
  return kind === (dataType === 'file' ? 'string' : dataType);
}

function ownFields(
  body: Body,
  part: 'properties' | 'variables',
  declared: Definition['properties'],
): Map<string, Field> {
  const fields = new Map<string, Field>();
  const raw = body.object(part);
  if (raw === undefined) return fields;
  for (const [name, text] of readNested(raw, `$.${part}`).members) {
    const { dataType, isMandatory = false } = declared?.[name] ?? {};
    if (dataType === undefined) throw invalid(`$.${part} has a name that cannot be used`);
    const fallback = readNested(text, `$.${part}.${name}`).members.get('default');
    if (fallback !== undefined && !fitsDataType(fallback, dataType)) {
      throw invalid(`$.${part}.${name}.default is not of the data type ${dataType}`);
    }
    fields.set(name, fallback === undefined ? { dataType, isMandatory } : { dataType, isMandatory, fallback });
  }
  return fields;
}

/** Fields of base types first; one that is declared again must keep its data type, or substitution would fail. */
function inherit(fields: readonly ReadonlyMap<string, Field>[], part: string): Map<string, Field> {
  const all = new Map<string, Field>();
  for (const [name, field] of fields.flatMap((own) => [...own])) {
    const known = all.get(name);
    if (known && known.dataType !== field.dataType) {
      throw invalid(`$.${part}.${name} has another data type than in a base type`);
    }
    all.set(name, field);
  }
  return all;
}

function groupsOf(definition: Definition, bases: readonly BaseType[], properties: ReadonlyMap<string, Field>) {
  const groups = new Map(bases.flatMap((base) => [...base.groups]));
  const own = definition.unique ?? [];
  const taken = new Set([...groups.values()].flat());
  own.forEach((name, i) => {
    if (!properties.has(name)) throw invalid(`$.unique[${i}] is not a property of the type`);
    if (taken.has(name)) throw invalid(`$.unique[${i}] is unique already, by this list or by a base type's group`);
    taken.add(name);
  });
  if (own.length > 0) groups.set(definition.typeId, own);
  return { groups, uniqueProperties: [...taken] };
}

/** Resolves a definition with its base types. Unknown base types and contradictions are refused (400). */
export function resolveType(
  definition: Definition,
  body: Body,
  find: (ref: TypeRef) => BaseType | undefined,
): ResolvedType {
  const bases = (definition.baseTypes ?? []).map((text, i) => {
    const base = find(parseTypeRef(text, `$.baseTypes[${i}]`));
    if (!base) throw invalid(`$.baseTypes[${i}] is not a known type version`);
    if (base.typeId === definition.typeId) throw invalid(`$.baseTypes[${i}] is the type itself`);
    return base;
  });
  const declared = { properties: definition.properties, variables: definition.variables };
  const [properties, variables] = (['properties', 'variables'] as const).map((part) =>
    inherit([...bases.map((base) => base[part]), ownFields(body, part, declared[part])], part),
  ) as [Map<string, Field>, Map<string, Field>];

  const relatedModels = new Map(bases.flatMap((base) => [...base.relatedModels]));
  for (const [model, { type, uniqueMapping = {} }] of Object.entries(definition.relatedModels ?? {})) {
    const path = `$.relatedModels.${model}`;
    const mapping = new Map(Object.entries(uniqueMapping));
    for (const name of mapping.keys()) {
      if (!properties.has(name)) throw invalid(`${path}.uniqueMapping.${name} is not a property of the type`);
    }
    relatedModels.set(model, { type: parseTypeRef(type, `${path}.type`), uniqueMapping: mapping });
  }
  return {
    baseTypes: new Set(bases.map(({ typeId, version }) => `${typeId}@${version[0]}`)),
    properties,
    variables,
    references: new Set([
      ...bases.flatMap((base) => [...base.references]),
      ...Object.keys(definition.references ?? {}),
    ]),
    relatedModels,
    ...groupsOf(definition, bases, properties),
  };
}
