import type { Example, Json, Reply } from './story.ts';

/** What examples have in common, and the forms of messages. */

/** What differs in each run: when a reply was made, and an object id that the service generates. */
export const sample = { time: '2026-01-02T03:04:06.789Z', objectId: 'c0454b7c-1d88-5875-9f4d-eb84ad596078' };

/** The properties that every request of its generation has. */
export const envelope = (name: string, id: string, ack = 'all'): Record<string, string> =>
  name.startsWith('Svc.')
    ? { 'svc-messagetype': 'platformEvent', eventType: name, id, ack }
    : { msgType: 'action', action: name, version: '2', correlationId: id, ack };

/** The properties with which an example is sent. */
export const propertiesOf = (message: string, { id, properties }: Example): Record<string, string> => ({
  ...envelope(message, id),
  ...properties,
});

export const ok = { success: true, code: 'ok', details: '' };

export const acknowledgement = (name: string, id: string, body: Json, more: Reply['properties'] = {}): Reply => ({
  what: 'the acknowledgement',
  properties: name.startsWith('Svc.')
    ? { 'svc-messagetype': 'platformEventAck', eventType: name, id, ...more }
    : { msgType: 'ack', action: name, version: '2', correlationId: id, timestamp: sample.time, ...more },
  body,
});

type ObjectModel = { readonly [key: string]: Json } & { readonly objectId: string; readonly model: string };

/** The notification of a whole object model. */
export const notification = (
  what: string,
  id: string,
  eventType: 'ObjectModelCreated' | 'ObjectModelUpdated',
  body: ObjectModel,
): Reply => ({
  what,
  properties: {
    'svc-messagetype': 'platformEvent',
    eventType: `Svc.InformationModel.${eventType}`,
    id,
    objectId: body.objectId,
    model: body.model,
  },
  body,
});

/** The object that most examples are about. */
export const boosterId = 'b0057e50-0000-4000-8000-000000000001';

const owned = { variables: {}, version: 1, ownerId: '24b3ab4b-22e4-5597-8162-909d67fe2d6a', path: 'pump-1' };

export const booster = (properties: Json, more: { readonly [key: string]: Json } = {}): ObjectModel => ({
  name: 'Booster pump',
  objectId: boosterId,
  model: 'svc.device',
  type: 'booster-pump@1.0.0',
  properties,
  ...owned,
  ...more,
});

/** The configuration that is created with a pump. */
export const settings = (name: string, objectId: string, serial: string): ObjectModel => ({
  name,
  objectId,
  model: 'svc.configuration',
  type: 'pump.settings@1.0.0',
  properties: { reportInterval: 60, unit: 'bar', serial },
  ...owned,
});

export const relatedModels = [{ model: 'svc.configuration', success: true, code: 'ok', details: '' }];
