import { z } from 'zod';
import { action, done } from '../card/card.ts';
import { keepingParent } from '../objectModel/parent.ts';
import { defaultModel, guid, modelId } from '../protocol/fields.ts';

export const referenceCreate = action('reference.create', {
  purpose: 'Create or update references of an object model',
  headers: z.object({ objectId: guid, model: modelId.default(defaultModel) }),
  needs: ['informationModel'],
  forwardedTo: ['informationModel', 'writeReferences'],

  async handle({ headers: { objectId, model }, json }, backends, limits) {
    const body = await keepingParent({ objectId, model }, json, backends, limits);
    await backends.informationModel.addReferences(objectId, model, body);
    return done({});
  },
});
