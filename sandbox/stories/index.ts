import { identityDelete } from './identity.delete.ts';
import { identityUpdate } from './identity.update.ts';
import { modelCreate } from './model.create.ts';
import { modelUpdate } from './model.update.ts';
import { referenceCreate } from './reference.create.ts';
import { deviceCreated } from './Svc.Device.Created.ts';
import { deviceSyncModel } from './Svc.Device.SyncModel.ts';
import { deviceUpdated } from './Svc.Device.Updated.ts';
import type { Story } from './story.ts';
import { typeCreate } from './type.create.ts';

/** One story for each message, in an order in which the examples succeed. */
export const stories: readonly Story[] = [
  modelCreate,
  deviceCreated,
  modelUpdate,
  deviceUpdated,
  referenceCreate,
  deviceSyncModel,
  typeCreate,
  identityUpdate,
  identityDelete,
];
