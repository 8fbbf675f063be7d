import { checkName } from '../backends/principalManager/principals.ts';
import { readObject } from '../backends/requests/body.ts';
import { members, printMembers } from '../backends/requests/json.ts';
import { conflict, forbidden, invalid } from '../backends/requests/problem.ts';
import { json, single } from '../backends/routes/route.ts';
import { ownIdentity } from '../backends/rules/ownership.ts';
import type { Sql } from './database.ts';
import { type Call, isGuid, type Route } from './sqlRoute.ts';

const columns = 'id, tenant, device, identity, path, parent_id, attributes';
const readOnly = ['id', 'path', 'parentId', 'device', 'tenant'];

export interface Identity {
  readonly id: string;
  readonly tenant: string;
  readonly device: string;
  readonly identity: string;
  readonly path: string;
  readonly parent_id: string | null;
  /** Raw JSON text. */
  readonly attributes: string;
}

const view = ({ id, identity, path, parent_id }: Identity) => ({ id, identity, path, parentId: parent_id });

export async function identityOf(sql: Sql, id: string): Promise<Identity | undefined> {
  if (!isGuid(id)) return undefined;
  return (await sql.query(`select ${columns} from identities where id = $1`, [id])).rows[0];
}

/** Creates what is missing of the identities along a path. The contract has no call for it: an administrator does. */
export async function connect(sql: Sql, tenant: string, path: string): Promise<void> {
  const names = path.split('/');
  for (const [i, name] of names.entries())
    await sql.query(
      `insert into identities (tenant, device, identity, path, parent_id)
       values ($1, $2, $3, $4, (select id from identities where path = $5)) on conflict do nothing`,
      [tenant, names[0], checkName(name, 'a name'), names.slice(0, i + 1).join('/'), names.slice(0, i).join('/')],
    );
}

async function resolve({ sql, caller, query }: Call) {
  if (single(query, 'device') !== caller.deviceId) throw forbidden('a device resolves its own identities only');
  const path = single(query, 'path') ?? '';
  const names = path === '' ? [] : path.split('/').map((name) => checkName(name, 'a segment of path'));
  const identity = single(query, 'identity');
  // A name with a slash is the name of no identity, and must not become a path.
  if (identity?.includes('/')) return json(200, { data: [] });
  const whole = [caller.deviceId, ...names, ...(identity === undefined ? [] : [identity])].join('/');
  const { rows } = await sql.query(`select ${columns} from identities where path = $1`, [whole]);
  return json(200, { data: rows.map(view) });
}

const own = async ({ sql, caller, params }: Call): Promise<Identity> =>
  ownIdentity(await identityOf(sql, params['id'] ?? ''), caller, 'the identity');

async function update(call: Call) {
  const identity = await own(call);
  const body = readObject(call.text);
  const name = body.string('identity');
  if (name !== undefined && name !== identity.identity) throw invalid('$.identity differs: it is never renamed');
  body.string('publicKey');
  for (const member of readOnly)
    if (body.members.has(member)) throw invalid(`$.${member} is decided by the principal manager`);
  const attributes = new Map([...members(identity.attributes), ...body.members]);
  attributes.delete('identity');
  for (const [member, raw] of body.members) if (raw === 'null') attributes.delete(member);
  const values = [identity.id, printMembers(attributes)];
  await call.sql.query('update identities set attributes = $2 where id = $1', values);
  return json(200, view(identity));
}

async function remove(call: Call) {
  const { id, parent_id } = await own(call);
  if (parent_id === null) throw forbidden('a directly connected device is not deleted by a device');
  const { rows } = await call.sql.query('select 1 from identities where parent_id = $1 limit 1', [id]);
  if (rows.length > 0) throw conflict('Still in use', 'other identities are connected through this one');
  await call.sql.query('delete from identities where id = $1', [id]);
  return { status: 204 };
}

export const identityRoutes: readonly Route[] = [
  { method: 'GET', path: '/devices', handle: resolve },
  { method: 'PUT', path: '/devices/{id}', handle: update },
  { method: 'DELETE', path: '/devices/{id}', handle: remove },
];
