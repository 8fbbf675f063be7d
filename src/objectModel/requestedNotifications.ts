import type { Envelope } from '../protocol/envelope.ts';
import type { Notification } from '../protocol/notification.ts';
import type { Registered } from './storedModel.ts';

/** The request-response notification of a model that the device asked for: it goes to the request's own target. */
export const requestedNotifications = (
  { objectId, model, created, stored }: Pick<Registered, 'objectId' | 'model' | 'created' | 'stored'>,
  { deviceId, target }: Envelope,
): Notification => ({
  eventType: created ? 'Svc.InformationModel.ObjectModelCreated' : 'Svc.InformationModel.ObjectModelUpdated',
  deviceId,
  target,
  objectId,
  model,
  body: stored.text,
});
