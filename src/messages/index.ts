import type { Card } from '../card/card.ts';
import type { Generation } from '../protocol/event.ts';
import { identityDelete } from './identity.delete.ts';
import { identityUpdate } from './identity.update.ts';
import { modelCreate } from './model.create.ts';
import { modelUpdate } from './model.update.ts';
import { referenceCreate } from './reference.create.ts';
import { typeCreate } from './type.create.ts';
import { deviceCreated } from './v1/Svc.Device.Created.ts';
import { deviceSyncModel } from './v1/Svc.Device.SyncModel.ts';
import { deviceUpdated } from './v1/Svc.Device.Updated.ts';

/** The catalogue: every message the service understands, by its name on the wire. */
export const catalogue: readonly Card[] = [
  modelCreate,
  modelUpdate,
  typeCreate,
  referenceCreate,
  identityUpdate,
  identityDelete,
  deviceCreated,
  deviceUpdated,
  deviceSyncModel,
];

const cardsOf = (generation: Generation): ReadonlyMap<string, Card> =>
  new Map(catalogue.filter((card) => card.generation === generation).map((card) => [card.name, card]));

const cards: Readonly<Record<Generation, ReadonlyMap<string, Card>>> = { V2: cardsOf('V2'), V1: cardsOf('V1') };

export const findCard = (generation: Generation, name: string): Card | undefined => cards[generation].get(name);
