import { readObject } from '../requests/body.ts';
import { forbidden, invalid, Problem } from '../requests/problem.ts';
import { type Answer, type Call, json, type Route, single } from '../routes/route.ts';
import { ownIdentity } from '../rules/ownership.ts';
import { checkName, type Principal, type Principals } from './principals.ts';

const view = ({ id, identity, path, parentId }: Principal) => ({ id, identity, path, parentId });

/** What the principal manager itself decides; a body that brings one of these is refused. */
const READ_ONLY = ['id', 'path', 'parentId', 'device', 'tenant'];

/** The routes of the principal manager: a device resolves, updates and deletes identities of its own tree only. */
export function principalManagerRoutes({ principals }: { readonly principals: Principals }): Route[] {
  function resolve({ caller, query }: Call): Answer {
    if (single(query, 'device') !== caller.deviceId) throw forbidden('a device resolves its own identities only');
    const path = single(query, 'path') ?? '';
    const identity = single(query, 'identity');
    let found = principals.device(caller.deviceId);
    for (const name of path === '' ? [] : path.split('/')) {
      checkName(name, 'a segment of path');
      found = found && principals.child(found, name);
    }
    if (identity !== undefined) found = found && principals.child(found, identity);
    return json(200, { data: found ? [view(found)] : [] });
  }

  const own = ({ caller, params }: Call): Principal =>
    ownIdentity(principals.get(params['id'] ?? ''), caller, 'the identity');

  function update(call: Call): Answer {
    const principal = own(call);
    const body = readObject(call.text);
    const identity = body.string('identity');
    if (identity !== undefined && identity !== principal.identity) {
      throw invalid('$.identity differs from the stored one; an identity is never renamed');
    }
    body.string('publicKey');
    for (const name of READ_ONLY) {
      if (body.members.has(name)) throw invalid(`$.${name} is decided by the principal manager`);
    }
    const changes = new Map(body.members);
    changes.delete('identity');
    return json(200, view(principals.update(principal, changes)));
  }

  function remove(call: Call): Answer {
    const principal = own(call);
    if (principal.parentId === null) throw forbidden('a directly connected device is not deleted by a device');
    if (principals.hasChildren(principal)) {
      throw new Problem(409, 'Still in use', 'other identities are connected through this one; delete them first');
    }
    principals.remove(principal);
    return { status: 204 };
  }

  return [
    { method: 'GET', path: '/devices', handle: resolve },
    { method: 'PUT', path: '/devices/{id}', handle: update },
    { method: 'DELETE', path: '/devices/{id}', handle: remove },
  ];
}
