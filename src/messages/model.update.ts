import { z } from 'zod';
import { action, done } from '../card/card.ts';
import { replace } from '../objectModel/replace.ts';
import { versionOf } from '../objectModel/storedModel.ts';
import { defaultModel, exactInteger, guid, modelId } from '../protocol/fields.ts';

export const modelUpdate = action('model.update', {
  purpose: 'Replace properties and variables of an object model',
  headers: z.object({ objectId: guid, model: modelId.default(defaultModel) }),
  reads: ['version'],
  needs: ['informationModel'],
  forwardedTo: ['informationModel', 'replaceObject'],
  acknowledged: { success: { fields: { objectId: guid, model: modelId, version: exactInteger } } },

  async handle({ headers: { objectId, model }, json, redelivered }, backends, { maxVersionGap }) {
    const replacement = { generation: 'V2', objectId, model, body: json, redelivered, maxVersionGap } as const;
    const stored = await replace(replacement, backends);
    return done({ objectId, model, version: versionOf(stored) });
  },
});
