import { z } from 'zod';
import { action, done } from '../card/card.ts';
import { defaultModel, modelId, text } from '../protocol/fields.ts';

export const typeCreate = action('type.create', {
  purpose: 'Create a type definition',
  headers: z.object({ model: modelId.default(defaultModel) }),
  maxBodyBytes: 65_536, // A6
  reads: ['typeId', 'version'],
  needs: ['typeRegistry'],
  forwardedTo: ['typeRegistry', 'createType'],
  acknowledged: { success: { fields: { typeId: text, model: modelId, version: text } } },

  async handle({ headers: { model }, json }, { typeRegistry }) {
    const { typeId, version } = await typeRegistry.createType(model, json.text);
    return done({ typeId, model, version });
  },
});
