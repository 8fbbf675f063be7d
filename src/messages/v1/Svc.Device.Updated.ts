import { z } from 'zod';
import { replace } from '../../objectModel/replace.ts';
import { defaultModel, guid, integer, jsonObject, modelId, typeRef } from '../../protocol/fields.ts';
import { done, event } from '../card.ts';
import { echoSubject, subjectFields, subjectOf } from './subject.ts';

/** Replace the properties and variables of an existing object model. */
export const deviceUpdated = event('Svc.Device.Updated', {
  headers: z.object({ objectId: guid, model: modelId.optional() }),
  body: jsonObject({ ...subjectFields, type: typeRef, version: integer }),
  reads: ['objectId', 'model', 'type', 'version'],
  needs: ['informationModel'],
  acknowledged: {
    success: { fields: { version: integer }, properties: { objectId: guid, model: modelId } },
    failure: { fields: { version: integer.optional() }, properties: subjectFields },
  },
  echo(properties, body) {
    const { version } = Object(body) as { version?: unknown };
    return { ...echoSubject(properties, body, defaultModel), fields: Number.isInteger(version) ? { version } : {} }; // A5
  },

  async handle({ headers, body, json, mayBeRepeat }, backends, { maxVersionGap }) {
    const { model = defaultModel } = subjectOf(headers, body);
    const { objectId } = headers;
    await replace({ generation: 'V1', objectId, model, body: json, mayBeRepeat, maxVersionGap }, backends);
    return done({ version: body.version });
  },
});
