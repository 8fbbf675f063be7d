import { randomUUID } from 'node:crypto';
import { type Body, readObject } from '../requests/body.ts';
import { invalid } from '../requests/problem.ts';
import { type Answer, type Call, single } from '../routes/route.ts';
import { type Owner, ownIdentity } from '../rules/ownership.ts';
import { checkAbsent, checkUntaken } from '../rules/uniqueness.ts';
import { parseTypeRef } from '../typeRegistry/version.ts';
import { type ObjectModel, ownerOf, printObject } from './objectModel.ts';
import { relate } from './related.ts';
import type { Stores } from './stores.ts';
import { checkValues } from './values.ts';

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function checkGuid(text: string, where: string): string {
  if (!GUID.test(text)) throw invalid(`${where} must be a GUID`);
  return text;
}

function checkModel(text: string, where: string): string {
  if (/\p{Cc}/u.test(text) || text.length > 256)
    throw invalid(`${where} must have no control characters and at most 256 others`);
  return text;
}

/** The ids of a new object model; a missing object id is generated. */
export function readIds(body: Body): { objectId: string; model: string } {
  const model = checkModel(body.required('model'), '$.model');
  return { objectId: checkGuid(body.string('objectId') ?? randomUUID(), '$.objectId'), model };
}

/** The body of a new object model, checked against its type. */
export function readNew(
  { types }: Stores,
  tenant: string,
  body: Body,
  ids: Pick<ObjectModel, 'objectId' | 'model'>,
): Omit<ObjectModel, 'owner'> {
  const type = types.find(tenant, ids.model, parseTypeRef(body.required('type'), '$.type'));
  if (!type) throw invalid('$.type is not a known type of this model definition');
  const properties = body.object('properties') ?? '{}';
  const variables = body.object('variables') ?? '{}';
  checkValues(type, properties, variables);
  const name = body.string('name');
  return { tenant, ...ids, type, properties, variables, version: 1, ...(name === undefined ? {} : { name }) };
}

/** The new owner: the calling device itself unless the query names an identity of its tree. */
function readOwner({ principals }: Stores, { caller, query }: Call): Owner {
  const id = single(query, 'owner');
  return id === undefined ? caller.identity : ownerOf(ownIdentity(principals.get(id), caller, 'the owner'));
}

function create(stores: Stores, call: Call, body: Body, ids: Pick<ObjectModel, 'objectId' | 'model'>): Answer {
  const { caller } = call;
  const { objects } = stores;
  const owner = readOwner(stores, call);
  checkAbsent(objects.siblings(caller.tenant, ids.objectId), ids.model, caller);
  const draft = readNew(stores, caller.tenant, body, ids);
  checkUntaken(objects.holders(caller.tenant, draft.type, draft.properties), caller);
  const object = objects.put({ ...draft, owner });
  return { status: 201, body: printObject(object, relate(stores, caller, object)) };
}

/** `POST /object`: ids stand in the body; a missing object id is generated. */
export function createObject(stores: Stores, call: Call): Answer {
  const body = readObject(call.text);
  return create(stores, call, body, readIds(body));
}

/** `POST /objects/{objectId}`: the body's object id, if any, must agree; the model is `svc.device` unless given. */
export function createObjectWithId(stores: Stores, call: Call): Answer {
  const body = readObject(call.text);
  const objectId = checkGuid(call.params['objectId'] ?? '', 'the object id in the path');
  const inBody = body.string('objectId');
  if (inBody !== undefined && inBody.toLowerCase() !== objectId.toLowerCase()) {
    throw invalid('$.objectId differs from the object id in the path');
  }
  return create(stores, call, body, { objectId, model: checkModel(body.string('model') ?? 'svc.device', '$.model') });
}
