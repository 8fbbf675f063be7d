import { z } from 'zod';
import { done, event } from '../../card/card.ts';
import { replace } from '../../objectModel/replace.ts';
import {
  defaultModel,
  exactInteger,
  guid,
  integer,
  integerIn,
  jsonObject,
  modelId,
  typeRef,
} from '../../protocol/fields.ts';
import { type Json, textIn } from '../../protocol/json.ts';
import { echoSubject, subjectDisagreements, subjectFields, subjectInBody, subjectOf } from './subject.ts';

export const deviceUpdated = event('Svc.Device.Updated', {
  purpose: 'Replace properties and variables of an object model',
  headers: z.object({ objectId: guid, model: modelId.optional() }),
  body: jsonObject({ ...subjectInBody, type: typeRef, version: integer }),
  reads: ['objectId', 'model', 'type', 'version'],
  needs: ['informationModel'],
  forwardedTo: ['informationModel', 'replaceObject'],
  acknowledged: {
    success: { fields: { version: exactInteger }, properties: { objectId: guid, model: modelId } },
    failure: { fields: { version: exactInteger.optional() }, properties: subjectFields },
  },
  crossChecks: subjectDisagreements,
  echo(properties, body, json) {
    const version = versionIn(json);
    return { ...echoSubject(properties, body, defaultModel), fields: version === undefined ? {} : { version } }; // A5
  },

  async handle({ headers, body, json, redelivered }, backends, { maxVersionGap }) {
    const { model = defaultModel } = subjectOf(headers, body);
    const { objectId } = headers;
    await replace({ generation: 'V1', objectId, model, body: json, redelivered, maxVersionGap }, backends);
    return done({ version: versionIn(json) ?? BigInt(body.version) });
  },
});

/** The exact version of the request; undefined when it is no integer. */
function versionIn(json: Json | undefined): bigint | undefined {
  const text = (json && textIn(json, 'version')) ?? '';
  const value = /^-?\d/.test(text) ? Number(text) : Number.NaN;
  return integerIn(text) ?? (Number.isInteger(value) ? BigInt(value) : undefined);
}
