import { readObject } from '../http/body.ts';
import { conflict, forbidden, invalid, invalidModification, notFound } from '../http/problem.ts';
import type { Answer, Call } from '../http/routes.ts';
import { isSame, members, scalar } from '../json.ts';
import type { TypeVersion } from '../typeRegistry/types.ts';
import { parseTypeRef } from '../typeRegistry/version.ts';
import type { World } from '../world/world.ts';
import { type ObjectModel, ownerDevice, ownerOf, printObject, writable } from './objectModel.ts';
import { relate } from './related.ts';
import { checkValues } from './values.ts';

/** The object model that a path names, in the caller's tenant. */
export const addressed = ({ objects }: World, { caller, params }: Call): ObjectModel | undefined =>
  objects.get(caller.tenant, params['objectId'] ?? '', params['model'] ?? '');

/** The type that an update asks for. Without a version it stays what it is; switching needs one (400). */
function nextType({ types }: World, { tenant, model, type }: ObjectModel, text: string): TypeVersion {
  const ref = parseTypeRef(text, '$.type');
  if (ref.selector === 'latest') {
    if (ref.typeId === type.typeId) return type;
    throw invalidModification('$.type names another type without its version');
  }
  const next = types.find(tenant, model, ref);
  if (!next) throw invalidModification('$.type is not a known type of this model definition');
  if (next === type) return type;
  const leaves = [...type.groups.keys()].some((leader) => !next.groups.has(leader));
  const isStranger = next.typeId !== type.typeId && type.groups.size === 0;
  if (leaves || isStranger) throw invalidModification('$.type is outside the unique group of the object model');
  return next;
}

/** A unique property never changes once it has a value, and never takes a value that another object model has (400). */
function checkUnique({ objects }: World, before: ObjectModel, type: TypeVersion, properties: string): void {
  const old = members(before.properties);
  const now = members(properties, '$.properties');
  for (const name of before.type.uniqueProperties) {
    const value = old.get(name);
    if (value === undefined || !scalar(value)) continue;
    if (!isSame(value, now.get(name)))
      throw invalidModification(`$.properties.${name} is unique and cannot be changed`);
  }
  if (objects.holders(before.tenant, type, properties).some((holder) => holder !== before)) {
    throw invalidModification('another object model has these unique properties');
  }
}

/** `PUT /objects/{objectId}/models/{model}`: full replacement against the stored version. */
export function updateObject(world: World, call: Call): Answer {
  const before = writable(addressed(world, call), call.caller);
  const body = readObject(call.text);
  const version = body.integer('version');
  if (version === undefined) throw invalid('$.version is missing');
  const typeText = body.required('type');
  if (version !== before.version) {
    throw conflict('Version mismatch', 'the version is not the stored one', { version: before.version });
  }
  const type = nextType(world, before, typeText);
  const properties = body.object('properties') ?? '{}';
  const variables = body.object('variables') ?? '{}';
  checkUnique(world, before, type, properties);
  checkValues(type, properties, variables);
  const name = body.string('name');
  const named = name === undefined ? {} : { name };
  const after = world.objects.put({ ...before, ...named, type, properties, variables, version: before.version + 1 });
  return { status: 200, body: printObject(after, relate(world, call.caller, after)) };
}

/**
 * `PUT …/owner`: claims an object model for an identity of the caller's tree. The owner stays (409 for another one),
 * unless its identity is gone and it was one of the caller's own.
 */
export function claimObject(world: World, call: Call): Answer {
  const { caller } = call;
  const { principals, objects } = world;
  const object = addressed(world, call);
  if (!object) throw notFound('the object model');
  const ownerId = readObject(call.text).required('ownerId');
  const claimant = principals.get(ownerId);
  if (!claimant || claimant.tenant !== caller.tenant) throw notFound('the owner');
  if (claimant.device !== caller.deviceId) throw forbidden('the owner is connected through another device');
  const { owner } = object;
  if (owner?.id === claimant.id) return { status: 204 };
  const isOrphan = owner && ownerDevice(owner) === caller.deviceId && !principals.get(owner.id);
  if (owner && !isOrphan) throw conflict('Owned by another', 'the object model is owned by another identity');
  objects.put({ ...object, owner: ownerOf(claimant) });
  return { status: 204 };
}
