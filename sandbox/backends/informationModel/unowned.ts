import { randomUUID } from 'node:crypto';
import { readObject } from '../http/body.ts';
import { conflict } from '../http/problem.ts';
import type { World } from '../world/world.ts';
import { checkGuid, checkModel, readNew } from './create.ts';
import type { ObjectModel } from './objectModel.ts';

/** Creates an object model that nobody owns yet, as an administrator prepares one for a device to claim. */
export function createUnowned(world: World, tenant: string, text: string): ObjectModel {
  const body = readObject(text);
  const model = checkModel(body.required('model'), '$.model');
  const objectId = checkGuid(body.string('objectId') ?? randomUUID(), '$.objectId');
  const draft = readNew(world, tenant, body, objectId, model);
  const { objects } = world;
  if (objects.get(tenant, objectId, model) || objects.holders(tenant, draft.type, draft.properties).length > 0) {
    throw conflict('Already exists', 'the object model, or one with its unique properties, exists');
  }
  return objects.put(draft);
}
