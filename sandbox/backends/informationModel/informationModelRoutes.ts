import type { Call, Route } from '../routes/route.ts';
import { readable } from '../rules/ownership.ts';
import { createObject, createObjectWithId } from './create.ts';
import { printObject } from './objectModel.ts';
import { query } from './query.ts';
import { readForApplication } from './readForApplication.ts';
import { readReferences, writeReferences } from './referenceHandlers.ts';
import type { Stores } from './stores.ts';
import { addressed, claimObject, updateObject } from './update.ts';

const OBJECT = '/objects/{objectId}/models/{model}';

/** The routes of the information model service. */
export function informationModelRoutes(stores: Stores): Route[] {
  const read = (call: Call) => ({ status: 200, body: printObject(readable(addressed(stores, call), call.caller)) });
  return [
    { method: 'POST', path: '/object', handle: (call) => createObject(stores, call) },
    { method: 'POST', path: '/objects/{objectId}', handle: (call) => createObjectWithId(stores, call) },
    { method: 'GET', path: OBJECT, handle: read, handleForApplication: (call) => readForApplication(stores, call) },
    { method: 'PUT', path: OBJECT, handle: (call) => updateObject(stores, call) },
    { method: 'PUT', path: `${OBJECT}/owner`, handle: (call) => claimObject(stores, call) },
    { method: 'POST', path: `${OBJECT}/references/out`, handle: (call) => writeReferences(stores, call) },
    { method: 'GET', path: `${OBJECT}/references/out`, handle: (call) => readReferences(stores, call) },
    { method: 'POST', path: '/query', isSafe: true, handle: (call) => query(stores, call) },
  ];
}
