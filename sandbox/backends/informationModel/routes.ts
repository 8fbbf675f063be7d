import type { Call, Route } from '../http/routes.ts';
import type { World } from '../world/world.ts';
import { createObject, createObjectWithId } from './create.ts';
import { printObject, readable } from './objectModel.ts';
import { query } from './query.ts';
import { readForApplication } from './readForApplication.ts';
import { readReferences, writeReferences } from './references.ts';
import { addressed, claimObject, updateObject } from './update.ts';

const OBJECT = '/objects/{objectId}/models/{model}';

/** The routes of the information model service. */
export function informationModelRoutes(world: World): Route[] {
  const read = (call: Call) => ({ status: 200, body: printObject(readable(addressed(world, call), call.caller)) });
  return [
    { method: 'POST', path: '/object', handle: (call) => createObject(world, call) },
    { method: 'POST', path: '/objects/{objectId}', handle: (call) => createObjectWithId(world, call) },
    { method: 'GET', path: OBJECT, handle: read, handleForApplication: (call) => readForApplication(world, call) },
    { method: 'PUT', path: OBJECT, handle: (call) => updateObject(world, call) },
    { method: 'PUT', path: `${OBJECT}/owner`, handle: (call) => claimObject(world, call) },
    { method: 'POST', path: `${OBJECT}/references/out`, handle: (call) => writeReferences(world, call) },
    { method: 'GET', path: `${OBJECT}/references/out`, handle: (call) => readReferences(world, call) },
    { method: 'POST', path: '/query', isSafe: true, handle: (call) => query(world, call) },
  ];
}
