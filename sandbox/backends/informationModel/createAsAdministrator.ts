import type { Principal } from '../principalManager/principals.ts';
import { readObject } from '../requests/body.ts';
import { checkAbsent, checkUntaken } from '../rules/uniqueness.ts';
import { readIds, readNew } from './create.ts';
import { type ObjectModel, ownerOf } from './objectModel.ts';
import type { Stores } from './stores.ts';

/** Creates an object model as an administrator does: with an identity as its owner, or without an owner, so that a device can claim it. */
export function createAsAdministrator(stores: Stores, tenant: string, text: string, owner?: Principal): ObjectModel {
  const body = readObject(text);
  const { objects } = stores;
  const draft = readNew(stores, tenant, body, readIds(body));
  checkAbsent(objects.siblings(tenant, draft.objectId), draft.model);
  checkUntaken(objects.holders(tenant, draft.type, draft.properties));
  return objects.put(owner ? { ...draft, owner: ownerOf(owner) } : draft);
}
