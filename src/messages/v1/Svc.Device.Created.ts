import { z } from 'zod';
import { done, event } from '../../card/card.ts';
import { createOrUpdate } from '../../objectModel/createOrUpdate.ts';
import { linkParent } from '../../objectModel/parent.ts';
import { configurationNews, noNews, relatedModels, requestedNotifications } from '../../objectModel/storedModel.ts';
import { derivedId } from '../../protocol/event.ts';
import {
  absentWhenNull,
  defaultModel,
  guid,
  jsonObject,
  modelId,
  parseTypeRef,
  path,
  text,
  typeRef,
} from '../../protocol/fields.ts';
import { Rejection } from '../../protocol/rejection.ts';
import { maxReplyBytes } from '../../protocol/reply.ts';
import { echoSubject, subjectDisagreements, subjectFields, subjectInBody, subjectOf } from './subject.ts';

const parent = z.object({ objectId: guid, reference: text }, { error: 'must be an object' });

export const deviceCreated = event('Svc.Device.Created', {
  purpose: 'Create or update an object model, optionally with a parent',
  headers: z.object({ ...subjectFields, owner: path.default('') }),
  body: jsonObject({ ...subjectInBody, type: typeRef, parent: absentWhenNull(parent) }),
  reads: ['objectId', 'model', 'type', 'version', 'properties', 'parent', 'parent.objectId', 'parent.reference'],
  needs: ['informationModel', 'typeRegistry', 'principalManager'],
  keeps: 2 * maxReplyBytes,
  forwardedTo: ['informationModel', 'createObjectWithId'],
  acknowledged: {
    success: { fields: { relatedModels }, properties: { objectId: guid, model: modelId } },
    failure: { fields: { relatedModels }, properties: { model: modelId.optional() } },
  },
  crossChecks: subjectDisagreements,
  // spec: objectId is not sent in an unsuccessful acknowledgement
  echo(properties, body) {
    const { objectId: _, ...known } = echoSubject(properties, body, defaultModel).properties;
    return { properties: known, fields: { relatedModels: [] } };
  },

  async handle({ envelope, headers, body, json, redelivered }, backends, limits) {
    const { objectId, model = defaultModel } = subjectOf(headers, body);
    const derived = objectId === undefined ? derivedId(envelope.eventId, 'object') : undefined;
    const identity = { objectId, model, type: parseTypeRef(body.type), derivedId: derived };
    const registration = { generation: 'V1', owner: headers.owner, identity, body: json, redelivered } as const;
    const registered = await createOrUpdate(registration, backends, limits);
    // A failed parent reference fails the request, although the model exists (A9).
    const failure = body.parent && (await linkParent(registered, body.parent, backends, limits).catch(rejectionIn));
    const configuration = failure ? noNews : await configurationNews(registered, backends);
    const requested = requestedNotifications(registered, registered.text, envelope);
    const notifications = [requested, ...configuration.notifications];
    const properties = failure ? {} : { objectId: registered.objectId, model };
    const { remarks } = configuration;
    return done({ relatedModels: registered.relatedModels }, { properties, notifications, remarks, failure });
  },
});

function rejectionIn(error: unknown): Rejection {
  if (error instanceof Rejection) return error;
  throw error;
}
