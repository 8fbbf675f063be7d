import { z } from 'zod';
import { defaultModel, guid, modelId } from '../protocol/fields.ts';
import { action, done } from './card.ts';

/** Create references of an object model, or update the attributes of those that exist. */
export const referenceCreate = action('reference.create', {
  headers: z.object({ objectId: guid, model: modelId.default(defaultModel) }),
  needs: ['informationModel'],

  async handle({ headers: { objectId, model }, json }, { informationModel }) {
    await informationModel.addReferences(objectId, model, json.text);
    return done({});
  },
});
