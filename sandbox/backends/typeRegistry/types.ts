import { readObject } from '../requests/body.ts';
import { printMembers } from '../requests/json.ts';
import { conflict, forbidden, invalid } from '../requests/problem.ts';
import { checkSuccession } from '../rules/succession.ts';
import { readDefinition } from './definition.ts';
import { type BaseType, resolveType } from './resolvedType.ts';
import { compareVersions, parseVersion, type Selector, type TypeRef } from './version.ts';

/** One immutable version of a type. */
export interface TypeVersion extends BaseType {
  /** Null: known to all tenants, changed by none. */
  readonly tenant: string | null;
  readonly model: string;
  /** `pump@1.2.3` */
  readonly ref: string;
  /** The definition as it is answered: what was sent, plus `uniqueProperties`. */
  readonly text: string;
}

export interface TypeChange {
  readonly kind: 'type';
  readonly tenant: string | null;
  readonly model: string;
  readonly text: string;
}

/** The versions of one type, in order. */
type Versions = readonly TypeVersion[];

const typeKey = (tenant: string | null, model: string, typeId: string): string =>
  JSON.stringify([tenant, model, typeId]);

function choose(versions: Versions, selector: Selector): TypeVersion | undefined {
  if (selector === 'latest') return versions.at(-1);
  if ('major' in selector) return versions.findLast(({ version }) => version[0] === selector.major);
  return versions.find(({ version }) => compareVersions(version, selector.exact) === 0);
}

/** The type definitions of all tenants. */
export function createTypes(record: (change: TypeChange) => void) {
  const byType = new Map<string, Versions>();
  /** In order of creation: base types come before the types that build on them. */
  let all: TypeVersion[] = [];

  const versionsOf = (tenant: string | null, model: string, typeId: string): Versions =>
    byType.get(typeKey(tenant, model, typeId)) ?? byType.get(typeKey(null, model, typeId)) ?? [];

  const types = {
    /** The version that a reference means to a tenant: its own types and those known to all. */
    find: (tenant: string | null, model: string, { typeId, selector }: TypeRef): TypeVersion | undefined =>
      choose(versionsOf(tenant, model, typeId), selector),

    /**
     * Creates a type version from the text of its definition. `tenant` null makes it known to all tenants.
     * Refusals: 400 shape, unknown base types and broken unique groups; 403 versions of a type that is known to all,
     * by a tenant; 409 typeId and version exist already.
     */
    create(tenant: string | null, model: string, text: string): TypeVersion {
      const body = readObject(text);
      const definition = readDefinition(JSON.parse(text));
      const { typeId } = definition;
      if (definition.model !== undefined && definition.model !== model) {
        throw invalid('$.model differs from the model definition in the path');
      }
      const version = parseVersion(definition.version);
      if (!version) throw invalid('$.version must be three dot-separated numbers');
      const known = versionsOf(tenant, model, typeId);
      if (choose(known, { exact: version })) {
        throw conflict(
          'Already exists',
          'the type has that version already; versions are immutable, create a new one',
          {
            typeId,
            version: definition.version,
          },
        );
      }
      if (known.length > 0 && known[0]?.tenant !== tenant) {
        throw forbidden('the type belongs to all tenants; only an administrator adds versions');
      }

      const effective = resolveType(definition, body, (ref) => types.find(tenant, model, ref));
      const lower = known.findLast((other) => compareVersions(other.version, version) < 0);
      const higher = known.find((other) => compareVersions(other.version, version) > 0);
      const candidate = { ...effective, typeId, version };
      if (lower) checkSuccession(lower, candidate);
      if (higher) checkSuccession(candidate, higher);

      const shown = new Map(body.members).set('model', JSON.stringify(model));
      shown.set('uniqueProperties', JSON.stringify(effective.uniqueProperties));
      const ref = `${typeId}@${definition.version}`;
      const created: TypeVersion = { ...candidate, tenant, model, ref, text: printMembers(shown) };
      const ordered = [...known, created].sort((a, b) => compareVersions(a.version, b.version));
      byType.set(typeKey(tenant, model, typeId), ordered);
      all.push(created);
      record({ kind: 'type', tenant, model, text });
      return created;
    },
    list: (): readonly TypeVersion[] => all,
    dump: (): TypeChange[] => all.map(({ tenant, model, text }) => ({ kind: 'type', tenant, model, text })),
    clear(): void {
      byType.clear();
      all = [];
    },
  };
  return types;
}

export type Types = ReturnType<typeof createTypes>;
