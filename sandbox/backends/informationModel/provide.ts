import { randomUUID } from 'node:crypto';
import { readObject } from '../http/body.ts';
import { conflict } from '../http/problem.ts';
import type { Principal } from '../principalManager/principals.ts';
import type { World } from '../world/world.ts';
import { checkGuid, checkModel, readNew } from './create.ts';
import { type ObjectModel, ownerOf } from './objectModel.ts';

/** Creates an object model as an administrator does: for an identity, or for nobody, so that a device can claim it. */
export function provideObject(world: World, tenant: string, text: string, owner?: Principal): ObjectModel {
  const body = readObject(text);
  const model = checkModel(body.required('model'), '$.model');
  const objectId = checkGuid(body.string('objectId') ?? randomUUID(), '$.objectId');
  const draft = readNew(world, tenant, body, objectId, model);
  const { objects } = world;
  if (objects.get(tenant, objectId, model) || objects.holders(tenant, draft.type, draft.properties).length > 0) {
    throw conflict('Already exists', 'the object model, or one with its unique properties, exists');
  }
  return objects.put(owner ? { ...draft, owner: ownerOf(owner) } : draft);
}
