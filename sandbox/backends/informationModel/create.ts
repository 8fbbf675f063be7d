import { randomUUID } from 'node:crypto';
import { type Body, readObject } from '../http/body.ts';
import { conflict, forbidden, invalid, notFound } from '../http/problem.ts';
import { type Answer, type Call, single } from '../http/routes.ts';
import type { Caller } from '../principalManager/caller.ts';
import type { TypeVersion } from '../typeRegistry/types.ts';
import { parseTypeRef } from '../typeRegistry/version.ts';
import type { World } from '../world/world.ts';
import { isReadable, type ObjectModel, type Owner, ownerOf, printObject } from './objectModel.ts';
import { relate } from './related.ts';
import { checkValues } from './values.ts';

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function checkGuid(text: string, where: string): string {
  if (!GUID.test(text)) throw invalid(`${where} must be a GUID`);
  return text;
}

export function checkModel(text: string, where: string): string {
  if (/\p{Cc}/u.test(text) || text.length > 256)
    throw invalid(`${where} must have no control characters and at most 256 others`);
  return text;
}

/** The body of a new object model, checked against its type. */
export function readNew(
  { types }: World,
  tenant: string,
  body: Body,
  objectId: string,
  model: string,
): Omit<ObjectModel, 'owner'> {
  const type = types.find(tenant, model, parseTypeRef(body.required('type'), '$.type'));
  if (!type) throw invalid('$.type is not a known type of this model definition');
  const properties = body.object('properties') ?? '{}';
  const variables = body.object('variables') ?? '{}';
  checkValues(type, properties, variables);
  const name = body.string('name');
  return { tenant, objectId, model, type, properties, variables, version: 1, ...(name === undefined ? {} : { name }) };
}

/** Refuses unique values that are taken: 409 names the object model that has them, 403 when it is another device's. */
function checkUnique({ objects }: World, caller: Caller, type: TypeVersion, properties: string): void {
  for (const holder of objects.holders(caller.tenant, type, properties)) {
    if (!isReadable(holder, caller)) throw forbidden('the unique properties belong to an object of another device');
    throw conflict('Already exists', 'an object model with these unique properties exists', {
      objectId: holder.objectId,
      type: holder.type.ref,
    });
  }
}

function checkAbsent({ objects }: World, caller: Caller, objectId: string, model: string): void {
  for (const sibling of objects.siblings(caller.tenant, objectId)) {
    if (!isReadable(sibling, caller)) throw forbidden('the object belongs to another device');
    if (sibling.model === model) {
      throw conflict('Already exists', 'the object model exists', {
        objectId: sibling.objectId,
        type: sibling.type.ref,
      });
    }
  }
}

/** The new owner: the calling device itself unless the query names an identity of its tree. */
function readOwner({ principals }: World, { caller, query }: Call): Owner {
  const id = single(query, 'owner');
  if (id === undefined) return ownerOf(caller.root);
  const principal = principals.get(id);
  if (!principal || principal.tenant !== caller.tenant) throw notFound('the owner');
  if (principal.device !== caller.deviceId) throw forbidden('the owner is connected through another device');
  return ownerOf(principal);
}

function create(world: World, call: Call, body: Body, objectId: string, model: string): Answer {
  const { caller } = call;
  const owner = readOwner(world, call);
  checkAbsent(world, caller, objectId, model);
  const draft = readNew(world, caller.tenant, body, objectId, model);
  checkUnique(world, caller, draft.type, draft.properties);
  const object = world.objects.put({ ...draft, owner });
  return { status: 201, body: printObject(object, relate(world, caller, object)) };
}

/** `POST /object`: ids stand in the body; a missing object id is generated. */
export function createObject(world: World, call: Call): Answer {
  const body = readObject(call.text);
  const model = checkModel(body.required('model'), '$.model');
  const objectId = body.string('objectId');
  const checked = objectId === undefined ? randomUUID() : checkGuid(objectId, '$.objectId');
  return create(world, call, body, checked, model);
}

/** `POST /objects/{objectId}`: the body's object id, if any, must agree; the model is `svc.device` unless given. */
export function createObjectWithId(world: World, call: Call): Answer {
  const body = readObject(call.text);
  const objectId = checkGuid(call.params['objectId'] ?? '', 'the object id in the path');
  const inBody = body.string('objectId');
  if (inBody !== undefined && inBody.toLowerCase() !== objectId.toLowerCase()) {
    throw invalid('$.objectId differs from the object id in the path');
  }
  return create(world, call, body, objectId, checkModel(body.string('model') ?? 'svc.device', '$.model'));
}
