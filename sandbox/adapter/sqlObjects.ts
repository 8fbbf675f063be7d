import { createHash, randomUUID } from 'node:crypto';
import { type ObjectModel, ownerOf, printObject } from '../backends/informationModel/objectModel.ts';
import { checkValues } from '../backends/informationModel/values.ts';
import { type Body, readNested, readObject, readObjects } from '../backends/requests/body.ts';
import { isSame, members, printMembers, scalar } from '../backends/requests/json.ts';
import { conflict, forbidden, invalid, invalidModification, notFound, Problem } from '../backends/requests/problem.ts';
import { type Caller, single } from '../backends/routes/route.ts';
import { isNewOwner, isReadable, ownIdentity, readable, writable } from '../backends/rules/ownership.ts';
import { checkDeclared } from '../backends/rules/references.ts';
import { checkTypeChange } from '../backends/rules/succession.ts';
import {
  checkAbsent,
  checkStillUnique,
  checkUnchanged,
  checkUntaken,
  uniqueKeys,
} from '../backends/rules/uniqueness.ts';
import type { TypeVersion } from '../backends/typeRegistry/types.ts';
import { parseTypeRef } from '../backends/typeRegistry/version.ts';
import type { Sql } from './database.ts';
import { identityOf } from './sqlIdentities.ts';
import { type ApplicationCall, type Call, isGuid, type Route } from './sqlRoute.ts';
import { findType } from './sqlTypes.ts';

/** As stored, with the type as its reference. */
interface Stored extends Omit<ObjectModel, 'type'> {
  readonly type: { readonly ref: string };
}

const columns = 'tenant, object_id, model, name, type, properties, variables, version, owner_id, path';

// biome-ignore lint/suspicious/noExplicitAny: a row
const objectOf = ({ object_id, name, type, version, owner_id, path, ...rest }: any): Stored => ({
  ...{ ...rest, objectId: object_id, type: { ref: type }, version: Number(version) },
  ...(name !== null && { name }),
  ...(owner_id !== null && { owner: { id: owner_id, path } }),
});
// What is printed of a type is its reference.
const print = (object: Stored, related?: string) => printObject(object as ObjectModel, related);

async function select(sql: Sql, where: string, values: unknown[]): Promise<Stored[]> {
  return (await sql.query(`select ${columns} from objects where ${where}`, values)).rows.map(objectOf);
}

async function find(
  sql: Sql,
  tenant: string,
  objectId: string,
  model: string,
  isForUpdate = false,
): Promise<Stored | undefined> {
  if (!isGuid(objectId)) return undefined;
  const where = 'tenant = $1 and object_id = $2 and model = $3';
  return (await select(sql, isForUpdate ? `${where} for update` : where, [tenant, objectId, model]))[0];
}

const addressed = ({ sql, caller, params }: Call, isForUpdate = false) =>
  find(sql, caller.tenant, params['objectId'] ?? '', params['model'] ?? '', isForUpdate);

/** Values in the form in which equal ones are equal texts. */
const scalarsOf = (properties: string): string =>
  JSON.stringify(
    Object.fromEntries(Array.from(members(properties), ([name, raw]) => [name, scalar(raw)?.text ?? null])),
  );
/** Hashes: a row of an index has no room for long values. */
const keysOf = ({ groups }: TypeVersion, properties: string) =>
  uniqueKeys(groups, properties).map((key) => createHash('sha256').update(JSON.stringify(key)).digest('hex'));

/** Object models that hold these unique values. */
const holders = (
  sql: Sql,
  { tenant, model }: Pick<Stored, 'tenant' | 'model'>,
  type: TypeVersion,
  properties: string,
) =>
  select(
    sql,
    '(tenant, model, object_id) in (select tenant, model, object_id from unique_values where tenant = $1 and model = $2 and key = any($3))',
    [tenant, model, keysOf(type, properties)],
  );

/** Writes a new object model, or one in place of its predecessor. */
async function put(sql: Sql, object: Omit<ObjectModel, 'type'>, type: TypeVersion): Promise<Stored> {
  const { tenant, objectId, model, name, properties, variables, version, owner } = object;
  // Of two creates at once, one is refused here, made again, and then finds the other.
  const replacing = `on conflict (tenant, object_id, model) do update set name = $4, type_id = $5, type = $6,
     properties = $7, variables = $8, scalars = $9, version = $10, owner_id = $11, path = $12`;
  await sql.query(
    `insert into objects (tenant, object_id, model, name, type_id, type, properties, variables, scalars, version, owner_id, path)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ${version > 1 ? replacing : ''}`,
    [
      tenant,
      objectId,
      model,
      name ?? null,
      type.typeId,
      type.ref,
      properties,
      variables,
      scalarsOf(properties),
      version,
      owner?.id ?? null,
      owner?.path ?? null,
    ],
  );
  // So is one of two with the same unique values.
  for (const key of keysOf(type, properties))
    await sql.query(
      `insert into unique_values (tenant, model, key, object_id) select $1, $2, $3, $4
       where not exists (select 1 from unique_values where tenant = $1 and model = $2 and key = $3 and object_id = $4)`,
      [tenant, model, key, objectId],
    );
  return { ...object, type };
}

/** Creates the related models that are missing, and says what became of each. B1 */
async function relate(sql: Sql, caller: Caller, main: Omit<ObjectModel, 'type'>, type: TypeVersion): Promise<string> {
  const results: object[] = [];
  for (const [model, { type: ref, uniqueMapping }] of type.relatedModels) {
    const result = (success: boolean, code: string, details = '', created = false) =>
      results.push({ model, success, code, details, created });
    const present = await find(sql, main.tenant, main.objectId, model);
    const related = await findType(sql, main.tenant, model, ref);
    const values = members(main.properties);
    const defaults = (fields: TypeVersion['properties'] = new Map()) =>
      new Map(
        Array.from(fields).flatMap(([name, { fallback }]) =>
          fallback === undefined ? [] : [[name, fallback] as const],
        ),
      );
    const properties = defaults(related?.properties);
    for (const [from, to] of uniqueMapping) {
      const value = values.get(from);
      if (value !== undefined) properties.set(to, value);
    }
    const text = printMembers(properties);
    const holder = present ?? (related && (await holders(sql, { ...main, model }, related, text))[0]);
    if (holder && isReadable(holder, caller)) result(true, 'ok');
    else if (holder) result(false, 'not_authorized', 'the related model belongs to another device');
    else if (!related) result(false, 'http_response_error', 'the type of the related model does not exist');
    else {
      const variables = printMembers(defaults(related.variables));
      try {
        checkValues(related, text, variables);
        await put(sql, { ...main, model, properties: text, variables, version: 1 }, related);
        result(true, 'ok', '', true);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        result(false, 'validation_error', error.message);
      }
    }
  }
  return JSON.stringify(results);
}

async function create(call: Call, body: Body, objectId: string, model: string) {
  const { sql, caller, query } = call;
  if (!isGuid(objectId)) throw invalid('the object id must be a GUID');
  const id = single(query, 'owner');
  const owner =
    id === undefined
      ? caller.identity
      : ownerOf(ownIdentity(asPrincipal(await identityOf(sql, id)), caller, 'the owner'));
  const ids = { tenant: caller.tenant, objectId: objectId.toLowerCase(), model };
  checkAbsent(await select(sql, 'tenant = $1 and object_id = $2', [caller.tenant, objectId]), model, caller);
  const type = await findType(sql, caller.tenant, model, parseTypeRef(body.required('type'), '$.type'));
  if (!type) throw invalid('$.type is not a known type of this model definition');
  const [properties, variables] = [body.object('properties') ?? '{}', body.object('variables') ?? '{}'];
  checkValues(type, properties, variables);
  checkUntaken(await holders(sql, ids, type, properties), caller);
  const name = body.string('name');
  const object = { ...ids, ...(name !== undefined && { name }), properties, variables, version: 1, owner };
  const stored = await put(sql, object, type);
  return { status: 201, body: print(stored, await relate(sql, caller, object, type)) };
}

const asPrincipal = (row: Awaited<ReturnType<typeof identityOf>>) =>
  row && { ...row, parentId: row.parent_id, attributes: new Map<string, string>() };

async function createObject(call: Call) {
  const body = readObject(call.text);
  return create(call, body, body.string('objectId') ?? randomUUID(), body.required('model'));
}

async function createObjectWithId(call: Call) {
  const body = readObject(call.text);
  const objectId = call.params['objectId'] ?? '';
  const inBody = body.string('objectId');
  if (inBody !== undefined && !isSame(JSON.stringify(inBody.toLowerCase()), JSON.stringify(objectId.toLowerCase())))
    throw invalid('$.objectId differs from the object id in the path');
  return create(call, body, objectId, body.string('model') ?? 'svc.device');
}

async function updateObject(call: Call) {
  const { sql, caller } = call;
  const before = writable(await addressed(call, true), caller);
  const body = readObject(call.text);
  const version = body.integer('version');
  if (version === undefined) throw invalid('$.version is missing');
  if (version !== before.version)
    throw conflict('Version mismatch', 'the version is not the stored one', { version: before.version });
  const [asked, stored] = [
    parseTypeRef(body.required('type'), '$.type'),
    parseTypeRef(before.type.ref, 'the stored type'),
  ];
  if (asked.selector === 'latest' && asked.typeId !== stored.typeId)
    throw invalidModification('$.type names another type without its version');
  const old = await findType(sql, before.tenant, before.model, stored);
  const type = asked.selector === 'latest' ? old : await findType(sql, before.tenant, before.model, asked);
  if (!type || !old) throw invalidModification('$.type is not a known type of this model definition');
  checkTypeChange(old, type);
  const [properties, variables] = [body.object('properties') ?? '{}', body.object('variables') ?? '{}'];
  checkUnchanged(old.uniqueProperties, before.properties, properties);
  const others = await holders(sql, before, type, properties);
  checkStillUnique(
    before.objectId,
    others.map(({ objectId }) => objectId),
  );
  checkValues(type, properties, variables);
  const name = body.string('name') ?? before.name;
  const after = { ...before, ...(name !== undefined && { name }), properties, variables, version: version + 1 };
  const written = await put(sql, after, type);
  return { status: 200, body: print(written, await relate(sql, caller, after, type)) };
}

async function claimObject(call: Call) {
  const { sql, caller, text } = call;
  const object = await addressed(call, true);
  if (!object) throw notFound('the object model');
  const claimant = ownIdentity(await identityOf(sql, readObject(text).required('ownerId')), caller, 'the owner');
  const isThere = object.owner !== undefined && (await identityOf(sql, object.owner.id)) !== undefined;
  if (isNewOwner(object.owner, claimant.id, caller, () => isThere))
    await sql.query('update objects set owner_id = $4, path = $5 where tenant = $1 and object_id = $2 and model = $3', [
      ...[object.tenant, object.objectId, object.model, claimant.id, claimant.path],
    ]);
  return { status: 204 };
}

async function readObjectModel(call: Call) {
  return { status: 200, body: print(readable(await addressed(call), call.caller)) };
}

/** M2 */
async function readForApplication({ sql, application, operation, params }: ApplicationCall) {
  if (operation !== undefined && operation !== 'invoke') throw invalid('x-svc-operation must be invoke, or absent');
  const object = await find(sql, application.tenant, params['objectId'] ?? '', params['model'] ?? '');
  if (!object) throw notFound('the object model');
  if (operation === 'invoke' && !application.mayInvoke) throw forbidden('the application may not invoke methods');
  return { status: 200, body: print(object) };
}

// biome-ignore lint/suspicious/noExplicitAny: a row
const printReference = ({ name, to_object_id, to_model, attributes }: any) =>
  `{"name":${JSON.stringify(name)},"to":${JSON.stringify({ objectId: to_object_id, model: to_model })},"attributes":${attributes}}`;

async function writeReferences(call: Call) {
  const { sql, caller } = call;
  const source = writable(await addressed(call, true), caller);
  const bodies = readObjects(call.text);
  if (bodies.length > 1000) throw invalid('the body has more than 1000 references');
  const types = new Map<string, TypeVersion | undefined>();
  const typeOf = async ({ model, type: { ref } }: Stored) => {
    const name = `${model} ${ref}`;
    if (!types.has(name))
      types.set(name, await findType(sql, caller.tenant, model, parseTypeRef(ref, 'a stored type')));
    return types.get(name) ?? { references: new Set<string>() };
  };
  const written = [];
  let isNew = false;
  for (const [i, body] of bodies.entries()) {
    const name = body.required('name');
    const to = readNested(body.object('to') ?? '{}', `$[${i}].to`);
    const target = readable(
      await find(sql, caller.tenant, to.required('objectId'), to.required('model')),
      caller,
      `the target of $[${i}]`,
    );
    const attributes = body.object('attributes');
    const isParent = attributes !== undefined && members(attributes).get('isParent') === 'true';
    checkDeclared(name, isParent, { source: await typeOf(source), target: await typeOf(target) }, `$[${i}]`);
    const { rows } = await sql.query(
      `insert into refs (tenant, object_id, model, name, to_object_id, to_model, attributes)
       values ($1, $2, $3, $4, $5, $6, coalesce($7, '{}')) on conflict (tenant, object_id, model, name, to_object_id, to_model)
       do update set attributes = coalesce($7, refs.attributes) returning *, xmax = 0 as is_new`,
      [source.tenant, source.objectId, source.model, name, target.objectId, target.model, attributes ?? null],
    );
    written.push(rows[0]);
    isNew ||= rows[0].is_new;
  }
  return { status: isNew ? 201 : 200, body: `{"data":[${written.map(printReference).join(',')}]}` };
}

async function readReferences(call: Call) {
  const { tenant, objectId, model } = readable(await addressed(call), call.caller);
  const { rows } = await call.sql.query(
    `select refs.*, objects.path as owner_path from refs
     join objects on objects.tenant = refs.tenant and objects.object_id = to_object_id and objects.model = to_model
     where refs.tenant = $1 and refs.object_id = $2 and refs.model = $3 order by position`,
    [tenant, objectId, model],
  );
  const seen = rows.filter(({ owner_path: path }) =>
    isReadable(path === null ? {} : { owner: { id: '', path } }, call.caller),
  );
  return { status: 200, body: `{"data":[${seen.map(printReference).join(',')}]}` };
}

async function query({ sql, caller, text }: Call) {
  const body = readObject(text);
  const typeId = body.required('type');
  if (typeId.includes('@')) throw invalid('$.type must be a type id without a version');
  const wanted = scalarsOf(body.object('properties') ?? '{}');
  if (wanted === '{}' || Object.values(JSON.parse(wanted)).includes(null))
    throw invalid('$.properties must be strings, numbers or booleans, plain or wrapped');
  const where = 'tenant = $1 and model = $2 and type_id = $3 and scalars @> $4';
  const hits = await select(sql, where, [caller.tenant, body.required('model'), typeId, wanted]);
  return {
    status: 200,
    body: `{"data":[${hits
      .filter((hit) => isReadable(hit, caller))
      .map((hit) => print(hit))
      .join(',')}]}`,
  };
}

const object = '/objects/{objectId}/models/{model}';
export const objectRoutes: readonly Route[] = [
  { method: 'POST', path: '/object', handle: createObject },
  { method: 'POST', path: '/objects/{objectId}', handle: createObjectWithId },
  { method: 'GET', path: object, handle: readObjectModel, handleForApplication: readForApplication },
  { method: 'PUT', path: object, handle: updateObject },
  { method: 'PUT', path: `${object}/owner`, handle: claimObject },
  { method: 'POST', path: `${object}/references/out`, handle: writeReferences },
  { method: 'GET', path: `${object}/references/out`, handle: readReferences },
  { method: 'POST', path: '/query', isSafe: true, handle: query },
];
