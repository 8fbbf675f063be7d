import { readObject } from '../requests/body.ts';
import { conflict, invalid, invalidModification, notFound } from '../requests/problem.ts';
import type { Answer, Call } from '../routes/route.ts';
import { isNewOwner, ownIdentity, writable } from '../rules/ownership.ts';
import { checkTypeChange } from '../rules/succession.ts';
import { checkStillUnique, checkUnchanged } from '../rules/uniqueness.ts';
import type { TypeVersion } from '../typeRegistry/types.ts';
import { parseTypeRef } from '../typeRegistry/version.ts';
import { type ObjectModel, ownerOf, printObject } from './objectModel.ts';
import { relate } from './related.ts';
import type { Stores } from './stores.ts';
import { checkValues } from './values.ts';

/** The object model that a path names, in the caller's tenant. */
export const addressed = ({ objects }: Stores, { caller, params }: Call): ObjectModel | undefined =>
  objects.get(caller.tenant, params['objectId'] ?? '', params['model'] ?? '');

/** The type that an update asks for. Without a version it stays what it is; another one needs its version (400). */
function nextType({ types }: Stores, { tenant, model, type }: ObjectModel, text: string): TypeVersion {
  const ref = parseTypeRef(text, '$.type');
  if (ref.selector === 'latest') {
    if (ref.typeId === type.typeId) return type;
    throw invalidModification('$.type names another type without its version');
  }
  const next = types.find(tenant, model, ref);
  if (!next) throw invalidModification('$.type is not a known type of this model definition');
  checkTypeChange(type, next);
  return next;
}

/** `PUT /objects/{objectId}/models/{model}`: full replacement against the stored version. */
export function updateObject(stores: Stores, call: Call): Answer {
  const { objects } = stores;
  const before = writable(addressed(stores, call), call.caller);
  const body = readObject(call.text);
  const version = body.integer('version');
  if (version === undefined) throw invalid('$.version is missing');
  const typeText = body.required('type');
  if (version !== before.version) {
    throw conflict('Version mismatch', 'the version is not the stored one', { version: before.version });
  }
  const type = nextType(stores, before, typeText);
  const properties = body.object('properties') ?? '{}';
  const variables = body.object('variables') ?? '{}';
  checkUnchanged(before.type.uniqueProperties, before.properties, properties);
  checkStillUnique(before, objects.holders(before.tenant, type, properties));
  checkValues(type, properties, variables);
  const name = body.string('name');
  const named = name === undefined ? {} : { name };
  const after = objects.put({ ...before, ...named, type, properties, variables, version: before.version + 1 });
  return { status: 200, body: printObject(after, relate(stores, call.caller, after)) };
}

/** `PUT …/owner`: claims an object model for an identity of the caller's tree. */
export function claimObject(stores: Stores, call: Call): Answer {
  const { caller } = call;
  const { principals, objects } = stores;
  const object = addressed(stores, call);
  if (!object) throw notFound('the object model');
  const claimant = ownIdentity(principals.get(readObject(call.text).required('ownerId')), caller, 'the owner');
  const exists = (id: string) => principals.get(id) !== undefined;
  if (isNewOwner(object.owner, claimant.id, caller, exists)) objects.put({ ...object, owner: ownerOf(claimant) });
  return { status: 204 };
}
