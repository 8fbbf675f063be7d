import { z } from 'zod';
import { action, done } from '../card/card.ts';
import { createOrUpdate, type Identity } from '../objectModel/createOrUpdate.ts';
import { configurationNews, relatedModels } from '../objectModel/storedModel.ts';
import { derivedId } from '../protocol/event.ts';
import { guid, isGuid, modelId, parseTypeRef, path } from '../protocol/fields.ts';
import { type Json, pickSmall } from '../protocol/json.ts';
import { maxReplyBytes } from '../protocol/reply.ts';

export const modelCreate = action('model.create', {
  purpose: 'Create or update an object model',
  headers: z.object({ owner: path.default('') }),
  reads: ['objectId', 'model', 'type', 'version', 'properties'],
  needs: ['informationModel', 'typeRegistry', 'principalManager'],
  keeps: maxReplyBytes,
  forwardedTo: ['informationModel', 'createObject'],
  acknowledged: {
    success: { fields: { objectId: guid, relatedModels } },
    failure: { fields: { relatedModels } }, // A3
  },
  echo: () => ({ fields: { relatedModels: [] } }),

  async handle({ envelope, headers: { owner }, json, redelivered }, backends, limits) {
    const identity = identify(json, envelope.eventId);
    const registration = { generation: 'V2', owner, identity, body: json, redelivered } as const;
    const registered = await createOrUpdate(registration, backends, limits);
    const { objectId } = registered;
    return done({ objectId, relatedModels: registered.relatedModels }, await configurationNews(registered, backends));
  },
});

const nobody: Identity = { objectId: undefined, model: undefined, type: undefined, derivedId: undefined };

/** A body without the members for a look-up goes to the information model, which refuses it (A1). */
function identify(json: Json, eventId: string): Identity {
  if (!json.isObject) return nobody;
  const { objectId, model, type } = pickSmall(json, ['objectId', 'model', 'type']);
  const isAbsent = !json.members.has('objectId') || objectId === null;
  if (!isAbsent && !isGuid(objectId)) return nobody; // A1
  return {
    objectId: isGuid(objectId) ? objectId : undefined,
    model: modelId.safeParse(model).data,
    type: parseTypeRef(type),
    derivedId: isAbsent ? derivedId(eventId, 'object') : undefined,
  };
}
