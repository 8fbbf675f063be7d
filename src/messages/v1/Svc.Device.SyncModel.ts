import { z } from 'zod';
import { done, event } from '../../card/card.ts';
import { bytesBeforeRoom, type Collection, collect } from '../../objectModel/collect.ts';
import { requestedNotifications } from '../../objectModel/storedModel.ts';
import { guid, jsonObject, modelId } from '../../protocol/fields.ts';
import { echoSubject, type Named, subjectDisagreements, subjectFields, subjectInBody, subjectOf } from './subject.ts';

// A10: real devices send every option; false, null, [] and [null] count as absent
const flag = z
  .boolean({ error: 'must be true or false' })
  .nullish()
  .transform((value) => value === true);
const list = (name: z.ZodString) =>
  z
    .array(name.nullable(), { error: 'must be an array of texts' })
    .nullish()
    .transform((values) => new Set((values ?? []).filter((value) => value !== null)));

export const deviceSyncModel = event('Svc.Device.SyncModel', {
  purpose: 'Fetch object models with children and related models',
  headers: z.object(subjectFields),
  body: jsonObject({
    ...subjectInBody,
    hierarchical: flag,
    contained: flag,
    recursive: flag,
    references: list(z.string({ error: 'must be text' })),
    related: list(modelId),
  }),
  reads: ['objectId', 'model', 'hierarchical', 'contained', 'recursive', 'references', 'related'],
  needs: ['informationModel'],
  keeps: bytesBeforeRoom,
  acknowledged: { success: { properties: { objectId: guid, model: modelId } }, failure: { properties: subjectFields } },
  crossChecks: (headers, body, hasShape) => [
    ...subjectDisagreements(headers, body),
    ...unnamed(headers, body, hasShape),
    ...contradictions(body),
  ],
  echo: (properties, body) => echoSubject(properties, body),

  async handle({ envelope, headers, body, room }, backends, limits) {
    const { objectId = '', model = '' } = subjectOf(headers, body); // neither is missing
    const { models, missing } = await collect({ ...body, objectId, model }, limits, backends, room);
    const notifications = models.map((one) => requestedNotifications({ ...one, created: false }, one.text, envelope));
    return done({}, { notifications, mustDeliver: true, remarks: missing });
  },
});

function unnamed(headers: Named, body: Named, hasShape: (name: string) => boolean): string[] {
  const subject = subjectOf(headers, body);
  const names = (['objectId', 'model'] as const).filter((name) => subject[name] === undefined && hasShape(name));
  return names.length === 0 ? [] : [`${names.join(' and ')} must be given, as property or in the body`];
}

type Options = Partial<Omit<Collection, 'objectId' | 'model'>>;

function contradictions({ hierarchical, contained, recursive, references }: Options): string[] {
  const given = Object.entries({ hierarchical, contained, recursive, references: references && references.size > 0 });
  const names = given.flatMap(([name, isGiven]) => (isGiven ? [name] : []));
  const allowed = names.length <= 1 || (!hierarchical && !contained); // recursive may accompany references
  return allowed ? [] : [`body.${names.join(' and body.')} are mutually exclusive`];
}
