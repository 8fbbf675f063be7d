import { readObject } from '../backends/requests/body.ts';
import { printMembers } from '../backends/requests/json.ts';
import { conflict, invalid, notFound } from '../backends/requests/problem.ts';
import { checkSuccession } from '../backends/rules/succession.ts';
import { readDefinition } from '../backends/typeRegistry/definition.ts';
import { resolveType } from '../backends/typeRegistry/resolvedType.ts';
import type { TypeVersion } from '../backends/typeRegistry/types.ts';
import {
  compareVersions,
  parseSelector,
  parseTypeRef,
  parseVersion,
  type TypeRef,
  type Version,
} from '../backends/typeRegistry/version.ts';
import type { Sql } from './database.ts';
import type { Call, Route } from './sqlRoute.ts';

interface Row {
  readonly version: Version;
  readonly definition: string;
}

const nameOf = ({ typeId, selector }: TypeRef) => JSON.stringify([typeId, selector]);

/** The stored version that a reference means. */
async function stored(
  sql: Sql,
  tenant: string,
  model: string,
  { typeId, selector }: TypeRef,
): Promise<Row | undefined> {
  let [first, last]: [Version, Version] = [
    [0, 0, 0],
    [999_999_999, 999_999_999, 999_999_999],
  ];
  if (selector !== 'latest') {
    [first, last] =
      'exact' in selector
        ? [selector.exact, selector.exact]
        : [
            [selector.major, 0, 0],
            [selector.major, last[1], last[2]],
          ];
  }
  const { rows } = await sql.query(
    `select version, definition from types where tenant = $1 and model = $2 and type_id = $3
     and version between $4 and $5 order by version desc limit 1`,
    [tenant, model, typeId, first, last],
  );
  return rows[0];
}

/** A type with all that its base types bring. */
async function resolved(sql: Sql, tenant: string, model: string, text: string): Promise<TypeVersion> {
  const body = readObject(text);
  const definition = readDefinition(JSON.parse(text));
  const bases = new Map<string, TypeVersion>();
  for (const base of definition.baseTypes ?? []) {
    const ref = parseTypeRef(base, '$.baseTypes');
    const found = await findType(sql, tenant, model, ref);
    if (found) bases.set(nameOf(ref), found);
  }
  const effective = resolveType(definition, body, (ref) => bases.get(nameOf(ref)));
  const version = parseVersion(definition.version);
  if (!version) throw invalid('$.version must be three dot-separated numbers');
  const shown = new Map(body.members).set('model', JSON.stringify(model));
  shown.set('uniqueProperties', JSON.stringify(effective.uniqueProperties));
  const ref = `${definition.typeId}@${definition.version}`;
  return { ...effective, typeId: definition.typeId, version, tenant, model, ref, text: printMembers(shown) };
}

export async function findType(
  sql: Sql,
  tenant: string,
  model: string,
  ref: TypeRef,
): Promise<TypeVersion | undefined> {
  const row = await stored(sql, tenant, model, ref);
  return row && resolved(sql, tenant, model, row.definition);
}

async function create({ sql, caller: { tenant }, params, text }: Call) {
  const model = params['modelId'] ?? '';
  const body = readObject(text);
  const { typeId, version: shown, ...definition } = readDefinition(JSON.parse(text));
  if (definition.model !== undefined && definition.model !== model) throw invalid('$.model differs from the path');
  const { rows } = await sql.query(
    'select version, definition from types where tenant = $1 and model = $2 and type_id = $3',
    [tenant, model, typeId],
  );
  const version = parseVersion(shown) ?? [0, 0, 0];
  const order = (row: Row) => compareVersions(row.version, version);
  const known = (rows as Row[]).toSorted((one, other) => compareVersions(one.version, other.version));
  if (known.some((row) => order(row) === 0))
    throw conflict('Already exists', 'the type has that version already', { typeId, version: shown });
  const created = await resolved(sql, tenant, model, text);
  const lower = known.findLast((row) => order(row) < 0);
  const higher = known.find((row) => order(row) > 0);
  if (lower) checkSuccession(await resolved(sql, tenant, model, lower.definition), created);
  if (higher) checkSuccession(created, await resolved(sql, tenant, model, higher.definition));
  await sql.query('insert into types (tenant, model, type_id, version, definition) values ($1, $2, $3, $4, $5)', [
    tenant,
    model,
    typeId,
    version,
    printMembers(body.members),
  ]);
  return { status: 201, body: created.text };
}

async function read({ sql, caller, params }: Call, selector: TypeRef['selector']) {
  const found = await findType(sql, caller.tenant, params['modelId'] ?? '', {
    typeId: params['typeId'] ?? '',
    selector,
  });
  if (!found) throw notFound('the type definition');
  return { status: 200, body: found.text };
}

async function readVersion(call: Call) {
  const selector = parseSelector(call.params['version'] ?? '');
  if (!selector) throw invalid('the version in the path must be a major or a full version');
  return read(call, selector);
}

const types = '/modelDefinitions/{modelId}/types';
export const typeRoutes: readonly Route[] = [
  { method: 'POST', path: types, handle: create },
  { method: 'GET', path: `${types}/{typeId}`, handle: (call) => read(call, 'latest') },
  { method: 'GET', path: `${types}/{typeId}/versions/{version}`, handle: readVersion },
];
