import { z } from 'zod';
import { defaultModel, modelId, text } from '../protocol/fields.ts';
import { action, done } from './card.ts';

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
